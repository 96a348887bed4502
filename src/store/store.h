// What is wanted, what is known and what happened, kept safe. One interface; sqlite, memory and faulty keep the same
// promises, held by conformance_test.cc.
//
// A commit is one transaction on one cluster: state and events together, guarded by the cluster's revision. When
// apply() returns a value it is on disk. No transaction spans two clusters. All calls are safe from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"

namespace espalier::store {

// What changed of one cluster. Rows that are not named stay.
struct Commit {
  ClusterId cluster;
  std::int64_t expected_revision = 0;  // 0: the cluster must not exist yet
  std::optional<Cluster> cluster_row;  // required when expected_revision is 0
  std::vector<Group> put_groups;
  std::vector<std::string> drop_groups;
  std::vector<Slot> put_slots;
  std::vector<SlotId> drop_slots;
  std::optional<SlurmApplied> slurm;
  std::vector<Event> events;    // appended; sequences grow by one
  bool remove_cluster = false;  // the cluster, its rows and its events go
};

struct EventQuery {
  ClusterId cluster;
  std::string group;                   // "" → any
  MachineId instance;                  // empty → any
  std::optional<ResourceType> resource;
  std::optional<Time> after, before;   // exclusive
  std::int64_t after_sequence = 0;     // exclusive: only events with a greater sequence
  std::int64_t before_sequence = 0;    // exclusive; 0 → no bound
  bool ascending = false;              // by sequence
  int limit = 100;
};

class Store {
 public:
  virtual ~Store() = default;
  // Returns the new revision. kConflict: the revision is another. kExists: the (account, region, name) is taken.
  virtual Result<std::int64_t> apply(const Commit& commit) = 0;
  // Every cluster, whole. At the start only.
  virtual Result<std::vector<ClusterState>> load() = 0;
  virtual Result<std::vector<Event>> events(const EventQuery& query) = 0;
  virtual Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& event_id) = 0;
  // Drops the oldest events of a cluster beyond `keep`.
  virtual Result<void> prune_events(const ClusterId& cluster, std::int64_t keep) = 0;
};

std::unique_ptr<Store> memory_store();
// One file in WAL mode, made when absent, mode 0600. kConflict when another process holds it.
Result<std::unique_ptr<Store>> sqlite_store(const std::string& path);

}  // namespace espalier::store
