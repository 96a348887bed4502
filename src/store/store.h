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
#include "model/access_key.h"
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
  // Appended. The first sequence is one more than that of the cluster's newest event, pruned or not; the first event of
  // a cluster has 1. load() gives the newest as Cluster::last_event, whether or not a commit had the cluster's row.
  std::vector<Event> events;
  bool remove_cluster = false;  // the cluster, its rows and its events go; no more of the commit counts
};

struct EventQuery {
  // {}: so that a query can be written as {.cluster = …, .limit = 1}.
  ClusterId cluster{};
  std::string group{};   // "" → any
  MachineId instance{};  // empty → any
  std::optional<ResourceType> resource{};
  std::optional<Time> after{}, before{};  // exclusive
  std::int64_t after_sequence = 0;        // exclusive: only events with a greater sequence
  std::int64_t before_sequence = 0;       // exclusive; 0 → no bound
  bool ascending = false;                 // by sequence
  int limit = 100;                        // 0 and less: none
};

class Store {
 public:
  virtual ~Store() = default;
  // Returns the new revision. kConflict: the revision is another. kExists: the (account, region, name) is taken.
  // kInvalid: the commit contradicts itself. Any other error: the outcome is not known, load again. Drops go before
  // puts.
  virtual Result<std::int64_t> apply(const Commit& commit) = 0;
  // Every cluster, whole, by id. At the start only.
  virtual Result<std::vector<ClusterState>> load() = 0;
  // By sequence, newest first unless asked otherwise. Events of a cluster that is not there: none.
  virtual Result<std::vector<Event>> events(const EventQuery& query) = 0;
  virtual Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& event_id) = 0;
  // Drops the oldest events of a cluster beyond `keep`.
  virtual Result<void> prune_events(const ClusterId& cluster, std::int64_t keep) = 0;

  // The access keys of the API, by id; few.
  virtual Result<std::vector<AccessKey>> access_keys() = 0;
  // Made, or changed. On disk when it returns.
  virtual Result<void> put_access_key(const AccessKey& key) = 0;
  // Nothing happens when there is none.
  virtual Result<void> drop_access_key(const std::string& id) = 0;
};

std::unique_ptr<Store> memory_store();
// One file in WAL mode, made when absent, mode 0600; `path`.lock beside it. kConflict when another process holds it:
// the message has its pid. kInvalid: it is no state file, or one of a newer Espalier.
Result<std::unique_ptr<Store>> sqlite_store(const std::string& path);

}  // namespace espalier::store
