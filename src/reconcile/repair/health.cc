#include "reconcile/repair/health.h"

#include <algorithm>

#include "model/instance_type.h"
#include "reconcile/events.h"
#include "reconcile/repair/repair.h"
#include "reconcile/slurm/nodes.h"
#include "slurm/node_state.h"

namespace espalier::reconcile {

namespace {

constexpr Millis kRound{2000};  // between two looks at those that are not well
constexpr int kLeastDiskPercent = 1;
constexpr Millis kClockOff{15'000};  // half of cred_expire in slurm.conf; munge refuses what is 5 min off

std::string missing_devices(const agent::HealthView& view, const InstanceType& type) {
  if (view.gpus < type.gpus) return fmt::format("it has {} of {} GPUs", view.gpus, type.gpus);
  if (view.neuron_devices < type.neuron_devices)
    return fmt::format("it has {} of {} Neuron devices", view.neuron_devices, type.neuron_devices);
  return "";
}

std::string full_disk(const agent::HealthView& view) {
  for (const auto& disk : view.disks)
    if (disk.total_bytes > 0 && disk.free_bytes * 100 < disk.total_bytes * kLeastDiskPercent)
      return fmt::format("the disk of {} is full: {} MiB are left", disk.path, disk.free_bytes >> 20);
  return "";
}

std::string dead_daemon(const agent::Health& health) {
  for (const auto& daemon : health.daemons)
    if (!daemon.running) return fmt::format("its {} does not run: {}", daemon.name, daemon.message);
  return "";
}

std::string wrong_clock(const agent::Health& health) {
  if (std::chrono::abs(health.clock_ahead) < kClockOff) return "";
  const auto seconds = std::chrono::abs(health.clock_ahead).count() / 1000;
  return fmt::format("its clock is {} s {} that of the control plane", seconds,
                     health.clock_ahead > Millis(0) ? "ahead of" : "behind");
}

// Slurm itself has taken a node out of use: it does not answer, or failed a check of slurmctld's or slurmd's. What an
// admin or we wrote is no fault.
std::string out_of_use(const Work& work, const Slot& slot) {
  if (slot.state != SlotState::Ready || work.state.groups.at(slot.group).type != NodeType::Compute) return "";
  const auto found = work.observed.slurm_nodes.find(slot.node_name);
  if (!work.observed.slurm_read || found == work.observed.slurm_nodes.end()) return "";
  const agent::NodeView& view = found->second;
  const slurm::NodeFacts facts = slurm::read_state(view.state);
  const bool lost = facts.down && !facts.responding;
  const bool taken = (facts.down || facts.draining) && !view.reason.empty();
  if (!(lost || taken) || is_order(view.reason) || view.reason.starts_with("espalier:") ||
      !foreign_reason(work, slot.node_name).empty())
    return "";
  return fmt::format("slurmctld shows it {}: {}", view.state, view.reason.empty() ? "no reason given" : view.reason);
}

// What the machine's own report shows; an agent that is older than reports of health is well.
std::optional<Fault> reported_fault(const agent::Health& health, const Slot& slot, Time now) {
  if (health.view.machine_id != slot.machine->id.value) return std::nullopt;  // another's, at its address
  const std::string clock = wrong_clock(health);
  if (std::string why = dead_daemon(health); !why.empty())
    return Fault{FaultKind::DaemonDead, clock.empty() ? why : fmt::format("{}; {}", clock, why), now};
  if (const auto* type = find_instance_type(slot.instance_type))
    if (std::string why = missing_devices(health.view, *type); !why.empty())
      return Fault{FaultKind::DevicesMissing, std::move(why), now};
  if (std::string why = full_disk(health.view); !why.empty()) return Fault{FaultKind::DiskFull, std::move(why), now};
  if (!clock.empty()) return Fault{FaultKind::ClockOff, clock, now};
  return std::nullopt;
}

// The worst of what is known of the machine.
std::optional<Fault> fault_of(const Work& work, const Slot& slot) {
  const MachineId& id = slot.machine->id;
  if (const auto silent = work.observed.silent.find(id); silent != work.observed.silent.end())
    return Fault{FaultKind::Silent, "its agent is not heard any more", silent->second};
  if (const auto health = work.observed.health.find(id); health != work.observed.health.end())
    if (auto fault = reported_fault(health->second, slot, work.now())) return fault;
  if (std::string why = out_of_use(work, slot); !why.empty())
    return Fault{FaultKind::OutOfUse, std::move(why), work.now()};
  return std::nullopt;
}

void examine(Work& work, const MachineId& machine) {
  Slot* slot = work.slot_of(machine);
  if (!slot) return;
  auto fault = fault_of(work, *slot);
  if (!fault) {
    work.observed.sick.erase(slot->id);
    work.set(*slot, ConditionType::Healthy, true, "its agent finds nothing wrong");
    return;
  }
  const auto known = work.observed.sick.find(slot->id);
  const bool same =
      known != work.observed.sick.end() && known->second.machine == machine && known->second.fault.kind == fault->kind;
  if (same) fault->since = known->second.fault.since;
  work.observed.sick[slot->id] = {machine, std::move(*fault)};
}

bool is_dead(const Work& work, const Slot& slot) {
  const auto view = work.observed.slurm_nodes.find(slot.node_name);
  if (view == work.observed.slurm_nodes.end()) return false;
  const slurm::NodeFacts facts = slurm::read_state(view->second.state);
  return facts.down || !facts.responding;
}

// slurmctld can be asked, and sees more than half of the machines that it should.
bool slurm_sees(Work& work) {
  const Slot* controller = work.ready_controller();
  if (!controller || !work.observed.slurm_read || work.observed.silent.contains(controller->machine->id)) return false;
  int all = 0;
  int dead = 0;
  for (const Slot* slot : work.slots_in(SlotState::Ready)) {
    if (work.group_of(*slot).type != NodeType::Compute) continue;
    ++all;
    dead += is_dead(work, *slot) ? 1 : 0;
  }
  return !is_blind(dead, all);
}

// Of these kinds: more than half of the machines show it, so the cause is elsewhere.
std::set<FaultKind> common_faults(const Work& work) {
  std::map<FaultKind, int> shown;
  for (const auto& [id, patient] : work.observed.sick) ++shown[patient.fault.kind];
  std::set<FaultKind> common;
  for (const FaultKind kind : {FaultKind::Silent, FaultKind::ClockOff, FaultKind::OutOfUse})
    if (is_blind(shown[kind], static_cast<int>(work.observed.slot_of_machine.size()))) common.insert(kind);
  return common;
}

// After the grace that faults have to pass, and once.
void tell(Work& work, Slot& slot, const Fault& fault) {
  const auto condition = slot.conditions.find(std::string(enum_name(ConditionType::Healthy)));
  const bool told = condition != slot.conditions.end() && !condition->second.holds;
  work.set(slot, ConditionType::Healthy, false, fault.why);
  if (told) return;
  instance_event(work, slot, EventLevel::Warn,
                 fmt::format("Instance {} in Cluster {} and IG {} is not healthy: {}", slot.machine->id.value,
                             work.state.cluster.name, slot.group, fault.why));
}

void repair(Work& work, Slot& slot, const Fault& fault, bool seen) {
  const Group& group = work.group_of(slot);
  const auto treatment =
      treat({fault, group.type == NodeType::Compute, seen, is_dead(work, slot), slot.repair}, work.settings().repair);
  if (!treatment) return;
  if (work.now() < treatment->not_before) return work.wake_at(treatment->not_before);
  if (under_repair(work, group.name) >= budget(group.target_count, work.settings().repair)) return;
  begin_repair(work, slot, {treatment->kind, treatment->at_once, true, fault.why});
}

}  // namespace

int under_repair(Work& work, const std::string& group) {
  int count = 0;
  for (const auto& [number, id] : work.index().group(group).by_number) {
    const Slot* slot = work.slot(id);
    count += slot->wanted && slot->repair && slot->repair->own && !slot->repair->done ? 1 : 0;
  }
  return count;
}

void on_health(Work& work, const HealthSeen& seen) {
  work.observed.health[seen.machine] = seen.health;
  examine(work, seen.machine);
}

void on_agent_silent(Work& work, const AgentSilent& silent) {
  work.observed.silent[silent.machine] = silent.since;
  examine(work, silent.machine);
}

void on_agent_back(Work& work, const AgentBack& back) {
  work.observed.silent.erase(back.machine);
  examine(work, back.machine);
}

void on_node_shown(Work& work, const Slot& slot) {
  if (!slot.machine) return;
  if (work.observed.sick.contains(slot.id) || !out_of_use(work, slot).empty())
    examine(work, MachineId(slot.machine->id));
}

std::string fault_text(const Observed& observed, const Slot& slot) {
  const auto sick = observed.sick.find(slot.id);
  const bool known = sick != observed.sick.end() && slot.machine && sick->second.machine == slot.machine->id;
  return known ? sick->second.fault.why : "";
}

void decide_repairs(Work& work) {
  auto& sick = work.observed.sick;
  std::erase_if(sick, [&](const auto& item) {
    const Slot* slot = work.slot(item.first);
    return !slot || !slot->machine || slot->machine->id != item.second.machine;
  });
  if (sick.empty() || work.ending()) return;
  work.wake_at(work.now() + kRound);
  if (work.now() < work.observed.sick_round) return;
  work.observed.sick_round = work.now() + kRound;
  const std::set<FaultKind> common = common_faults(work);
  const bool seen = slurm_sees(work);
  for (const auto& [id, patient] : sick) {
    Slot& slot = *work.slot(id);
    if (slot.state != SlotState::Ready || !slot.wanted) continue;
    const bool everywhere = common.contains(patient.fault.kind);
    if (everywhere && patient.fault.kind != FaultKind::OutOfUse) continue;  // then it is we who do not hear
    if (work.now() < patient.fault.since + work.settings().repair.grace) continue;
    tell(work, slot, patient.fault);
    if (work.state.cluster.node_recovery == "Automatic" && !everywhere) repair(work, slot, patient.fault, seen);
  }
}

}  // namespace espalier::reconcile
