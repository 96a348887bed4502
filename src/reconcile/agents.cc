#include "reconcile/agents.h"

#include "agent/credential.h"
#include "base/secret.h"
#include "reconcile/events.h"
#include "reconcile/lifecycle/scripts.h"
#include "reconcile/slot/life.h"
#include "reconcile/slot/slot.h"
#include "reconcile/slurm/imex.h"
#include "reconcile/slurm/wanted.h"
#include "slurm/hostlist.h"

namespace espalier::reconcile {

namespace {

constexpr Millis kRenewAgain = std::chrono::minutes(10);
constexpr Millis kSuspicionPause = std::chrono::minutes(1);

// Those of the partition that slurmctld must have in its saved state.
std::vector<std::string> surely_known(Work& work, const std::string& nodes) {
  std::vector<std::string> known;
  for (const std::string& node : slurm::expand(nodes).value_or(std::vector<std::string>{})) {
    const Slot* slot = work.slot_of_node(node);
    if (slot && is_set_up(slot->state)) known.push_back(node);
  }
  return known;
}

// After an order whose outcome is not known slurmctld may have forgotten nodes that the last good files declare. It
// would take them for new ones, and give them to a waiting job: they stay outside of every partition until they are
// DOWN.
std::string careful_partitions(Work& work, std::string text) {
  for (const auto& [name, nodes] : work.state.slurm.partition_nodes) {
    const std::string begin = fmt::format("PartitionName={} Nodes=", name);
    const auto at = text.find(begin + nodes + " ");
    const std::string known = slurm::compress(surely_known(work, nodes));
    if (!nodes.empty() && at != std::string::npos)
      text.replace(at + begin.size(), nodes.size(), known.empty() ? "\"\"" : known);
  }
  return text;
}

// All of a slurmctld's nodes are new to it when it comes up first. A job that is submitted at once waits until they are
// DOWN and the partitions are opened: see shut_all.
std::string closed_partitions(std::string text) {
  static constexpr std::string_view kOpen = " State=UP\n";
  for (auto at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at))
    text.replace(at, kOpen.size(), " State=DOWN\n");
  return text;
}

std::vector<agent::ConfigFile> files_now(Work& work) {
  std::vector<agent::ConfigFile> files;
  for (const auto& [name, text] : work.state.slurm.files) files.push_back({name, text, name == slurm::kSlurmConf});
  const auto partitions = std::ranges::find(files, slurm::kPartitionsConf, &agent::ConfigFile::name);
  if (partitions == files.end()) return files;
  if (work.state.slurm.pending) partitions->text = careful_partitions(work, std::move(partitions->text));
  if (work.state.slurm.revision == 0) partitions->text = closed_partitions(std::move(partitions->text));
  return files;
}

// It reads the controller's slurm.conf: until nothing in there is strange to its Slurm, its daemons are not started.
void note_release(Work& work, const Slot& slot) {
  const Slot* controller = work.controller();
  if (controller == nullptr || !has_other_release(slot, *controller)) return;
  work.observed.placed.erase(slot.id);
  work.places_changed();
}

// What the controller's Slurm can express decides what it is told.
void note_version(Work& work, Slot& slot, const std::string& slurm) {
  const bool is_controller = work.group_of(slot).type == NodeType::Controller;
  const auto version = slurm::read_version(slurm);
  if (version) work.touch(slot).slurm = to_string(*version);
  if (!is_controller) return note_release(work, slot);
  if (slurm.empty()) return;
  if (!version)
    return cluster_event(work, EventLevel::Warn, "The controller's Slurm is not known", version.error().message);
  if (to_string(*version) == work.state.slurm.version) return;
  work.state.slurm.version = to_string(*version);
  work.out.changes.slurm = true;
  work.places_changed();
}

std::string new_credential(Work& work, const Slot& slot, const std::string& certificate) {
  std::string out = fmt::format("{}.{}.{}", work.state.cluster.id.value, slot.id.value, work.context.secret(32));
  if (!certificate.empty()) out += "." + certificate;
  return out;
}

// Somebody has a token or a credential who should not. An event, but not one for each try.
void suspect(Work& work, const Slot& slot, std::string_view what) {
  const auto [last, first] = work.observed.enrolment_refused.try_emplace(slot.id, work.now());
  if (!first && work.now() < last->second + kSuspicionPause) return;
  last->second = work.now();
  instance_event(work, slot, EventLevel::Warn,
                 fmt::format("An agent that called as node {} was refused: {}", slot.node_name, what));
}

}  // namespace

void on_agent_enrols(Work& work, const AgentEnrols& call) {
  Slot* slot = work.slot(call.slot);
  auto refuse = [&](ErrorCode code, std::string why) {
    work.effect(EnrolAnswer{call.call, tl::unexpected(Error{code, std::move(why)})});
  };
  if (!slot || !same_secret(slot->token, call.token))
    return refuse(ErrorCode::kPermission, "this token is for no machine that is awaited");
  if (!slot->machine)
    return refuse(ErrorCode::kUnavailable, "the launch of this machine is not recorded yet: try again");
  if (slot->machine->id != call.machine) {
    suspect(work, *slot, "another machine has its token");
    return refuse(ErrorCode::kPermission, "this token belongs to another machine");
  }
  // Again with the same certificate: the answer was lost. The token is used up for everybody else.
  if (!slot->credential.empty() && agent::certificate_of(slot->credential) != call.certificate) {
    suspect(work, *slot, "its token was used before, with another certificate");
    return refuse(ErrorCode::kPermission, "this token was used before");
  }
  if (slot->credential.empty()) {
    work.touch(*slot).credential = new_credential(work, *slot, call.certificate);
    slot->credential_at = work.now();
    work.set(*slot, ConditionType::Booted, true, "its agent has enrolled");
  }
  note_version(work, *slot, call.slurm);
  work.effect(EnrolAnswer{call.call, slot->credential});
}

void on_agent_renews(Work& work, const AgentRenews& call) {
  Slot* slot = work.slot_of(call.machine);
  if (!slot || slot->credential.empty()) {
    work.effect(EnrolAnswer{call.call, fail(ErrorCode::kPermission, "this machine has no credential")});
    return;
  }
  // Again with the same certificate: the answer was lost.
  if (slot->renewed.empty() || agent::certificate_of(slot->renewed) != call.certificate)
    work.touch(*slot).renewed = new_credential(work, *slot, call.certificate);
  work.effect(EnrolAnswer{call.call, slot->renewed});
}

void on_credential_used(Work& work, const CredentialUsed& used) {
  Slot* slot = work.slot_of(used.machine);
  if (slot && used.elsewhere) return suspect(work, *slot, "its credential came with another certificate");
  if (!slot || slot->renewed.empty() || slot->renewed != used.credential) return;
  work.touch(*slot).credential = std::exchange(slot->renewed, "");
  slot->credential_at = work.now();
  work.observed.renewals.erase(used.machine);
  work.look_at(*slot);
}

void renew_credential(Work& work, const Slot& slot) {
  const Millis life = work.settings().credential_life;
  if (life == Millis(0) || slot.credential.empty()) return;
  // Spread by the slot, so that machines that came together do not call together.
  const auto spread = Millis(static_cast<std::int64_t>(std::hash<SlotId>()(slot.id) % 1000) * life.count() / 10'000);
  const auto told = work.observed.renewals.find(slot.machine->id);
  const Time due = told != work.observed.renewals.end() ? told->second : slot.credential_at + life - spread;
  if (work.now() < due) return work.look_at(slot, due);
  if (!work.observed.agents.contains(slot.machine->id)) return;
  work.observed.renewals[slot.machine->id] = work.now() + kRenewAgain;
  work.look_at(slot, work.now() + kRenewAgain);
  agent::Command command;
  command.renew = true;
  work.send(slot.machine->id, std::move(command));
}

void on_agent_here(Work& work, const MachineId& machine) {
  Slot* slot = work.slot_of(machine);
  if (!slot) return;
  work.observed.agents.insert(machine);
  work.observed.checks_sent.erase(machine);
  work.observed.setup_sent.erase(machine);  // it may never have got it
  work.observed.hosts_sent.erase(machine);
  work.observed.hosts_changed_at = work.now();
  work.observed.imex_sent.erase(machine);
  work.observed.imex_stale = true;
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
      !controller->machine || !setup_is_due(work, slot))
    return;
  agent::Setup setup;
  setup.role = work.group_of(slot).type;
  setup.cluster_name = work.state.cluster.name;
  setup.node_name = slot.node_name;
  setup.munge_key = work.state.cluster.munge_key;
  setup.controller = {controller->node_name, controller->machine->address};
  refresh_hosts(work);  // what it will fetch, and what changes after that it is told
  if (setup.role == NodeType::Controller) {
    if (work.state.slurm.files.empty()) {
      work.state.slurm = slurm_wanted(work.state, {}).target;
      work.out.changes.slurm = true;
    }
    setup.files = files_now(work);
  }
  if (!add_lifecycle(work, slot, setup)) return;
  setup.extra = imex_files(work, slot);
  work.observed.hosts_sent[id] = work.observed.hosts.version();
  agent::Command command;
  command.setup = std::move(setup);
  work.observed.setup_sent[id] = work.send(id, std::move(command));
}

void on_setup_done(Work& work, Slot& slot, const agent::CommandResult& result) {
  work.observed.setup_sent.erase(slot.machine->id);
  if (slot.state != SlotState::Configuring) return;
  if (!result.ok && retry_script(work, slot, result.error)) return;
  if (!result.ok) {
    lose(work, slot, FailureClass::Bootstrap,
         fmt::format("Instance {} could not be set up: {}", slot.machine->id.value, result.error));
    return;
  }
  note_script_done(work, slot);
  work.set(slot, ConditionType::Configured, true, "its daemons run");
  work.move(slot, Cause::kConfigured);
  // What changed since its setup was sent is still to be told.
  if (work.observed.hosts_sent[slot.machine->id] != work.observed.hosts.version() && !work.observed.hosts_changed_at)
    work.observed.hosts_changed_at = work.now();
  work.observed.imex_stale = true;
}

}  // namespace espalier::reconcile
