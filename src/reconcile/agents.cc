#include "reconcile/agents.h"

#include "reconcile/events.h"
#include "reconcile/slot/slot.h"
#include "reconcile/slurm/wanted.h"

namespace espalier::reconcile {

namespace {

std::vector<agent::HostEntry> make_hosts(const ClusterState& state) {
  std::vector<agent::HostEntry> hosts;
  for (const auto& [id, slot] : state.slots)
    if (slot.machine && slot.state != SlotState::Terminating) hosts.push_back({slot.node_name, slot.machine->address});
  std::ranges::sort(hosts);
  return hosts;
}

std::size_t hash_of(const std::vector<agent::HostEntry>& hosts) {
  std::string all;
  for (const auto& entry : hosts) all += entry.name + " " + entry.address + "\n";
  return std::hash<std::string>()(all);
}

// As of the last change that was seen; the bigger the cluster, the more seldom.
const std::vector<agent::HostEntry>& hosts_of(Work& work) {
  Observed& observed = work.observed;
  if (!observed.hosts_stale) return observed.hosts;
  const Time due = observed.hosts_at + Millis(work.index().count() / 100);
  if (work.now() < due) {
    work.wake_at(due);
    return observed.hosts;
  }
  observed.hosts_stale = false;
  observed.hosts_at = work.now();
  auto hosts = make_hosts(work.state);
  if (hosts == observed.hosts) return observed.hosts;
  observed.hosts = std::move(hosts);
  observed.hosts_hash = hash_of(observed.hosts);
  observed.hosts_changed_at = work.now();
  return observed.hosts;
}

std::vector<agent::ConfigFile> files_of(const SlurmApplied& slurm) {
  std::vector<agent::ConfigFile> files;
  for (const auto& [name, text] : slurm.files) files.push_back({name, text, name == slurm::kSlurmConf});
  return files;
}

}  // namespace

void on_agent_enrols(Work& work, const AgentEnrols& call) {
  Slot* slot = work.slot(call.slot);
  auto refuse = [&](ErrorCode code, std::string why) {
    work.effect(EnrolAnswer{call.call, tl::unexpected(Error{code, std::move(why)})});
  };
  if (!slot || slot->token.empty() || slot->token != call.token)
    return refuse(ErrorCode::kPermission, "this token is for no machine that is awaited");
  if (!slot->machine)
    return refuse(ErrorCode::kUnavailable, "the launch of this machine is not recorded yet: try again");
  if (slot->machine->id != call.machine) return refuse(ErrorCode::kPermission, "this token belongs to another machine");
  if (slot->credential.empty()) {
    work.touch(*slot).credential =
        fmt::format("{}.{}.{}", work.state.cluster.id.value, slot->id.value, work.context.secret(32));
    work.set(*slot, ConditionType::Booted, true, "its agent has enrolled");
  }
  work.effect(EnrolAnswer{call.call, slot->credential});
}

void on_agent_here(Work& work, const MachineId& machine) {
  Slot* slot = work.slot_of(machine);
  if (!slot) return;
  work.observed.agents.insert(machine);
  work.observed.setup_sent.erase(machine);  // it may never have got it
  work.observed.hosts_sent.erase(machine);
  work.observed.hosts_changed_at = work.now();
  work.look_at(*slot);
  if (work.group_of(*slot).type != NodeType::Controller) return;
  // The controller's agent knows nothing of a command that was under way, and may have missed changes.
  work.observed.batch.reset();
  work.observed.slurm_read = false;
  work.observed.watching.clear();
  work.observed.watch_version = 0;
}

void send_setup(Work& work, Slot& slot) {
  const MachineId& id = slot.machine->id;
  Slot* controller = work.controller();
  if (work.observed.setup_sent.contains(id) || !work.observed.agents.contains(id) || !controller ||
      !controller->machine)
    return;
  agent::Setup setup;
  setup.role = work.group_of(slot).type;
  setup.cluster_name = work.state.cluster.name;
  setup.node_name = slot.node_name;
  setup.munge_key = work.state.cluster.munge_key;
  setup.controller = {controller->node_name, controller->machine->address};
  setup.hosts = hosts_of(work);
  if (setup.role == NodeType::Controller) {
    if (work.state.slurm.files.empty()) {
      work.state.slurm = slurm_wanted(work.state).target;
      work.out.changes.slurm = true;
    }
    setup.files = files_of(work.state.slurm);
  }
  work.observed.hosts_sent[id] = work.observed.hosts_hash;
  agent::Command command;
  command.setup = std::move(setup);
  work.observed.setup_sent[id] = work.send(id, std::move(command));
}

void on_setup_done(Work& work, Slot& slot, const agent::CommandResult& result) {
  work.observed.setup_sent.erase(slot.machine->id);
  if (slot.state != SlotState::Configuring) return;
  if (!result.ok) {
    lose(work, slot, FailureClass::Bootstrap,
         fmt::format("Instance {} could not be set up: {}", slot.machine->id.value, result.error));
    return;
  }
  work.set(slot, ConditionType::Configured, true, "its daemons run");
  work.move(slot, Cause::kConfigured);
  // What changed since its setup was sent is still to be told.
  if (work.observed.hosts_sent[slot.machine->id] != work.observed.hosts_hash && !work.observed.hosts_changed_at)
    work.observed.hosts_changed_at = work.now();
}

void spread_hosts(Work& work) {
  Observed& observed = work.observed;
  if (work.deleting()) return;
  const auto& hosts = hosts_of(work);
  if (!observed.hosts_changed_at) return;
  if (const Time due = *observed.hosts_changed_at + work.settings().hosts_quiet; work.now() < due)
    return work.wake_at(due);
  observed.hosts_changed_at.reset();
  for (const SlotState state : {SlotState::Joining, SlotState::Ready, SlotState::Draining}) {
    for (const Slot* slot : work.slots_in(state)) {
      if (!observed.agents.contains(slot->machine->id)) continue;
      auto& sent = observed.hosts_sent[slot->machine->id];
      if (sent == observed.hosts_hash) continue;
      sent = observed.hosts_hash;
      agent::Command command;
      command.hosts = hosts;
      work.send(slot->machine->id, std::move(command));
    }
  }
}

}  // namespace espalier::reconcile
