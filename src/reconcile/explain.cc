#include "reconcile/explain.h"

#include "reconcile/repair/health.h"
#include "reconcile/repair/repair.h"
#include "reconcile/slot/slot.h"
#include "slurm/node_state.h"

namespace espalier::reconcile {

namespace {

const PoolClosed* closed_pool(const Observed& observed, const Group& group) {
  const PoolClosed* soonest = nullptr;
  for (const std::string& type : types_of(group)) {
    const auto found = observed.closed_pools.find(type);
    if (found == observed.closed_pools.end()) return nullptr;  // one of its pools is open
    if (!soonest || found->second.until < soonest->until) soonest = &found->second;
  }
  return soonest;
}

bool controller_is_ready(const ClusterState& state, const Observed& observed) {
  if (!observed.controller) return false;
  const auto found = state.slots.find(*observed.controller);
  return found != state.slots.end() && found->second.state == SlotState::Ready;
}

std::string tries(int count) { return fmt::format("{} {}", count, count == 1 ? "try" : "tries"); }

Explanation explain_waiting(const ClusterState& state, const Observed& observed, const Slot& slot) {
  const Group& group = state.groups.at(slot.group);
  if (!slot.wanted) return {"it is not wanted any more", "it is dropped", std::nullopt};
  if (group.type != NodeType::Controller && !controller_is_ready(state, observed))
    return {"the controller comes first, and is not ready yet", "it is launched when the controller is", std::nullopt};
  if (slot.next_try)
    return {fmt::format("its last machine failed ({}): {}", tries(slot.attempts), slot.failure_message),
            "another machine is asked for", slot.next_try};
  if (group.canary_at)
    return {fmt::format("the group tries one instance at a time until one succeeds: {}", group.failure_message),
            "one instance of the group is tried", group.canary_at};
  if (const PoolClosed* pool = closed_pool(observed, group))
    return {fmt::format("its pool gives nothing ({}): {}", tries(pool->failures), pool->message),
            fmt::format("the pool is asked again for one of {} instances that wait in this group",
                        observed.index.group(group.name).waiting.size()),
            pool->until};
  return {"it is its pool's turn to grant a launch", "it is launched", std::nullopt};
}

Explanation explain_booting(const Observed& observed, const Slot& slot) {
  if (!reboot_pending(slot)) {
    const bool rebooted = slot.repair && slot.repair->kind == RepairKind::Reboot && !slot.repair->done;
    return {rebooted ? "the machine was rebooted; its agent has not called since"
                     : "the machine starts; its agent has not enrolled yet",
            "it is set up", std::nullopt};
  }
  return {fmt::format("its machine is to be rebooted: {}", slot.repair->why),
          observed.rebooting.contains(slot.machine->id) ? "the provider's answer is awaited"
                                                        : "slurmctld lets the node go, then the provider reboots it",
          std::nullopt};
}

// What slurmctld shows keeps jobs away, and it is not ours.
const agent::NodeView* kept_out(const Observed& observed, const Slot& slot) {
  const auto view = observed.slurm_nodes.find(slot.node_name);
  if (view == observed.slurm_nodes.end() || view->second.reason.starts_with("espalier:")) return nullptr;
  const auto facts = slurm::read_state(view->second.state);
  return facts.down || facts.draining || facts.failing ? &view->second : nullptr;
}

std::string shown_with_reason(const agent::NodeView& view) {
  return fmt::format("slurmctld shows it {}, with a reason that is not ours: {}", view.state,
                     view.reason.empty() ? "none" : view.reason);
}
constexpr const char* kTakeBack = "nothing: who set it takes it back (scontrol update nodename=… state=resume)";

Explanation explain_ready(const ClusterState& state, const Observed& observed, const Settings& settings,
                          const Slot& slot) {
  const auto sick = observed.sick.find(slot.id);
  if (sick == observed.sick.end()) {
    if (const auto* view = kept_out(observed, slot)) return {shown_with_reason(*view), kTakeBack, std::nullopt};
    return {"all is as it should be", "nothing", std::nullopt};
  }
  const Fault& fault = sick->second.fault;
  if (state.cluster.node_recovery != "Automatic")
    return {fault.why, "nothing: the cluster has NodeRecovery=None", std::nullopt};
  return {fault.why,
          "when that lasts, its machine is rebooted or replaced, within what its group may have under repair",
          fault.since + settings.repair.grace};
}

Explanation explain_configuring(const Observed& observed, const Slot& slot) {
  if (const auto tries_of = observed.script_tries.find(slot.machine->id); tries_of != observed.script_tries.end())
    return {
        fmt::format("its lifecycle script has failed ({}): {}", tries(tries_of->second.failures), slot.failure_message),
        "the script is run again on this machine, a few times", tries_of->second.next};
  if (observed.setup_sent.contains(slot.machine->id))
    return {"its agent sets it up (files, lifecycle script, daemons)", "it joins Slurm", std::nullopt};
  if (!observed.agents.contains(slot.machine->id))
    return {"its agent has not called since the control plane or the agent started", "it is set up", std::nullopt};
  return {"slurmctld does not have it where its place in the network is yet", "it is set up once it has", std::nullopt};
}

Explanation explain_joining(const Observed& observed, const Slot& slot) {
  const auto view = observed.slurm_nodes.find(slot.node_name);
  if (!observed.slurm_read || view == observed.slurm_nodes.end())
    return {"slurmctld was not read yet", "it is set IDLE once slurmctld shows it registered", std::nullopt};
  const bool registered = view->second.address == slot.machine->address;
  const std::string fault = fault_text(observed, slot);
  if (!registered)
    return {fmt::format("its slurmd has not registered: slurmctld shows it {} at {}{}{}", view->second.state,
                        view->second.address, fault.empty() ? "" : "; ", fault),
            "its slurmd is asked to register again", std::nullopt};
  if (!view->second.reason.empty() && !view->second.reason.starts_with("espalier:"))
    return {shown_with_reason(view->second), kTakeBack, std::nullopt};
  return {fmt::format("it has registered; slurmctld shows it {}", view->second.state), "it is set IDLE", std::nullopt};
}

Explanation explain_draining(const Observed& observed, const Slot& slot) {
  const auto view = observed.slurm_nodes.find(slot.node_name);
  const bool rebooted = slot.wanted && reboot_pending(slot);
  const std::string cause = rebooted      ? fmt::format("its machine is to be rebooted: {}", slot.repair->why)
                            : slot.wanted ? "its machine is to be replaced"
                                          : "it is not wanted any more";
  if (view == observed.slurm_nodes.end())
    return {cause + "; what slurmctld shows of it is not known, so it counts as busy", "slurmctld is read again",
            std::nullopt};
  return {
      fmt::format("{}; slurmctld shows it {}", cause, view->second.state),
      rebooted ? "its machine is rebooted when no job is left on it" : "its machine is ended when no job is left on it",
      std::nullopt};
}

Explanation explain_state(const ClusterState& state, const Observed& observed, const Settings& settings,
                          const Slot& slot) {
  switch (slot.state) {
    case SlotState::Wanted:
    case SlotState::Backoff:
      return explain_waiting(state, observed, slot);
    case SlotState::Launching:
      return {fmt::format("the provider was asked for an {}", slot.instance_type), "its answer is awaited",
              std::nullopt};
    case SlotState::Booting:
      return explain_booting(observed, slot);
    case SlotState::Configuring:
      return explain_configuring(observed, slot);
    case SlotState::Joining:
      return explain_joining(observed, slot);
    case SlotState::Ready:
      return explain_ready(state, observed, settings, slot);
    case SlotState::Checking:
      return {"a deep health check: its jobs end first, then its machine is tried",
              "Slurm gets the node back, or the machine is drained or replaced, as the check has it", std::nullopt};
    case SlotState::Draining:
      return explain_draining(observed, slot);
    case SlotState::Terminating:
      return {slot.wanted
                  ? fmt::format("its machine has to go: {}",
                                slot.failure_message.empty() ? "it is replaced or was lost" : slot.failure_message)
                  : "it is not wanted any more",
              "slurmctld lets its address go, then the provider ends the machine", std::nullopt};
    case SlotState::Gone:
      return {"it is not wanted any more", "nothing", std::nullopt};
  }
  return {};
}

}  // namespace

Explanation explain(const ClusterState& state, const Observed& observed, const Settings& settings, const Slot& slot) {
  Explanation out = explain_state(state, observed, settings, slot);
  if (const auto limit = time_limit(slot, state.groups.at(slot.group), settings); limit && !out.next_at) {
    out.next += "; by then, or its machine is replaced";
    out.next_at = slot.since + *limit;
  }
  return out;
}

std::optional<Time> next_launch(const ClusterState& state, const Observed& observed, const Slot& slot) {
  if (slot.state != SlotState::Wanted && slot.state != SlotState::Backoff) return std::nullopt;
  return explain_waiting(state, observed, slot).next_at;
}

}  // namespace espalier::reconcile
