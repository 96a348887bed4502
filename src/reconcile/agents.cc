#include "reconcile/agents.h"

#include "reconcile/events.h"
#include "reconcile/slot/slot.h"
#include "reconcile/slurm/wanted.h"

namespace espalier::reconcile {

namespace {

std::vector<agent::HostEntry> hosts_of(const ClusterState& state) {
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
  if (work.group_of(*slot).type != NodeType::Controller) return;
  // The controller's agent knows nothing of a command that was under way, and may have missed changes.
  work.observed.batch.reset();
  work.observed.slurm_read = false;
  work.observed.watching.clear();
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
  setup.hosts = hosts_of(work.state);
  if (setup.role == NodeType::Controller) {
    if (work.state.slurm.files.empty()) {
      work.state.slurm = slurm_wanted(work.state).target;
      work.out.changes.slurm = true;
    }
    setup.files = files_of(work.state.slurm);
  }
  work.observed.hosts_sent[id] = hash_of(setup.hosts);
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
}

void spread_hosts(Work& work) {
  auto hosts = hosts_of(work.state);
  if (hosts != work.observed.hosts) {
    work.observed.hosts = std::move(hosts);
    work.observed.hosts_changed_at = work.now();
  }
  if (!work.observed.hosts_changed_at || work.deleting()) return;
  if (const Time due = *work.observed.hosts_changed_at + work.settings().hosts_quiet; work.now() < due)
    return work.wake_at(due);
  const std::size_t hash = hash_of(work.observed.hosts);
  bool all = true;
  for (const auto& [id, slot] : work.state.slots) {
    if (!slot.machine || !work.observed.agents.contains(slot.machine->id)) continue;
    const bool set_up =
        slot.state == SlotState::Joining || slot.state == SlotState::Ready || slot.state == SlotState::Draining;
    auto& sent = work.observed.hosts_sent[slot.machine->id];
    if (sent == hash) continue;
    if (!set_up) {
      all = false;  // it gets them right after its setup
      continue;
    }
    sent = hash;
    agent::Command command;
    command.hosts = work.observed.hosts;
    work.send(slot.machine->id, std::move(command));
  }
  if (all) work.observed.hosts_changed_at.reset();
}

}  // namespace espalier::reconcile
