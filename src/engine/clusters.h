// The engine as the API sees it: create, change, remove and read clusters. Safe from any thread.
//
// What changes a cluster answers by a callback, once, when it is on disk or surely refused: on the caller's thread when
// that is known at once, else on one of the engine's. When the engine ends first, it never answers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/health.h"
#include "agent/protocol.h"
#include "base/result.h"
#include "model/cluster.h"
#include "reconcile/explain.h"
#include "reconcile/index.h"
#include "reconcile/request.h"
#include "reconcile/slurm/truth.h"
#include "reconcile/wish.h"
#include "store/store.h"

namespace espalier::engine {

// A view of one cluster for the time of a call: do not keep references.
struct View {
  const ClusterState& state;
  const reconcile::Index& index;                         // of its slots
  std::function<const Slot*(const MachineId&)> slot_of;  // nullptr: it is no machine of the cluster's
  const std::map<std::string, agent::NodeView>&
      slurm_nodes;                                   // by name, as last seen; empty before the controller is up
  const std::map<MachineId, agent::Health>& health;  // as their agents last told
  std::function<reconcile::TopologyTruth()> topology;
  std::function<const reconcile::SlurmWanted&()> wanted;  // what Slurm should have, as things are now
  std::function<reconcile::Explanation(const Slot&)> explain;
  std::function<std::optional<Time>(const Slot&)> next_launch;
};

class Clusters {
 public:
  virtual ~Clusters() = default;

  using Created = std::function<void(Result<ClusterId>)>;
  using Changed = std::function<void(Result<void>)>;
  using NodesAdded = std::function<void(Result<reconcile::AddNodesAnswer>)>;
  using NodesActedOn = std::function<void(Result<reconcile::ActOnNodesAnswer>)>;
  // Checks, stores and starts it. kExists: the name is taken in this account and region.
  virtual void create(const reconcile::ClusterWish& wish, Created reply) = 0;
  virtual void update(const ClusterId& cluster, const reconcile::ClusterChange& change, Changed reply) = 0;
  virtual void remove(const ClusterId& cluster, Changed reply) = 0;
  virtual void add_nodes(const ClusterId& cluster, const reconcile::AddNodes& request, NodesAdded reply) = 0;
  // kInvalid: the provider has no such image.
  virtual void update_software(const ClusterId& cluster, const reconcile::UpdateSoftware& request, Changed reply) = 0;
  virtual void check_health(const ClusterId& cluster, const reconcile::CheckHealth& request, Changed reply) = 0;
  virtual void act_on_nodes(const ClusterId& cluster, const reconcile::ActOnNodes& request, NodesActedOn reply) = 0;

  // By name or ARN within account and region. kNotFound.
  virtual Result<ClusterId> find(const std::string& account, const std::string& region,
                                 const std::string& name_or_arn) = 0;
  virtual std::vector<ClusterId> list(const std::string& account, const std::string& region) = 0;
  // Calls `reader` with a consistent view. kNotFound when it is gone.
  virtual Result<void> read(const ClusterId& cluster, const std::function<void(const View&)>& reader) = 0;

  // What slurmctld shows of a job (scontrol -o show job), asked for now. kNotFound; kUnavailable: no controller
  // answers.
  using JobRead = std::function<void(Result<std::string>)>;
  virtual void read_job(const ClusterId& cluster, const std::string& job, JobRead reply) = 0;

  virtual Result<std::vector<Event>> events(const store::EventQuery& query) = 0;
  virtual Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& event_id) = 0;
  // Calls `ready` once, from any thread, when the cluster has an event after `sequence`, is gone, or `wait` is over.
  virtual void await_event(const ClusterId& cluster, std::int64_t sequence, Millis wait,
                           std::function<void()> ready) = 0;
};

}  // namespace espalier::engine
