#include "reconcile/work.h"

#include "base/log.h"

namespace espalier::reconcile {

Slot* Work::slot(const SlotId& id) {
  const auto found = state.slots.find(id);
  return found == state.slots.end() ? nullptr : &found->second;
}

Slot* Work::slot_of(const MachineId& machine) {
  const auto found = observed.slot_of_machine.find(machine);
  return found == observed.slot_of_machine.end() ? nullptr : slot(found->second);
}

Slot* Work::controller() {
  for (auto& [id, slot] : state.slots)
    if (group_of(slot).type == NodeType::Controller) return &slot;
  return nullptr;
}

Slot* Work::ready_controller() {
  Slot* found = controller();
  const bool here = found && found->machine && observed.agents.contains(found->machine->id);
  const bool up = here && (found->state == SlotState::Ready || found->state == SlotState::Joining);
  return up ? found : nullptr;
}

Slot& Work::touch(Slot& slot) {
  out.changes.slots.insert(slot.id);
  return slot;
}

Group& Work::touch(Group& group) {
  out.changes.groups.insert(group.name);
  return group;
}

Cluster& Work::touch_cluster() {
  out.changes.cluster = true;
  return state.cluster;
}

bool Work::move(Slot& slot, Cause cause) {
  const auto to = next(slot.state, cause);
  if (!to) {
    log::error("{}: no way from {} by {}: it stays", slot.node_name, enum_name(slot.state), enum_name(cause));
    return false;
  }
  if (*to == slot.state) return true;
  touch(slot).state = *to;
  if (*to == SlotState::Terminating) places_changed();
  slot.since = now();
  return true;
}

void Work::set(Slot& slot, ConditionType type, bool holds, std::string_view reason) {
  Condition& condition = slot.conditions[std::string(enum_name(type))];
  if (condition.holds == holds && condition.reason == reason) return;
  if (condition.holds != holds || condition.since == Time{}) condition.since = now();
  condition.holds = holds;
  condition.reason = reason;
  touch(slot);
}

void Work::give_machine(Slot& slot, const ProvidedMachine& provided) {
  touch(slot).machine = provided.machine;
  places_changed();
  observed.slot_of_machine[provided.machine.id] = slot.id;
  if (group_of(slot).type == NodeType::Controller) slot.address = provided.machine.address;
}

void Work::take_machine(Slot& slot) {
  if (!slot.machine) return;
  places_changed();
  const MachineId id = slot.machine->id;
  observed.slot_of_machine.erase(id);
  observed.agents.erase(id);
  observed.setup_sent.erase(id);
  observed.hosts_sent.erase(id);
  observed.terminate_after.erase(id);
  touch(slot).machine.reset();
  slot.launch_key.clear();
  slot.token.clear();
  slot.credential.clear();
  slot.conditions.clear();
}

void Work::drop(const SlotId& id) {
  places_changed();
  out.changes.slots.erase(id);
  out.changes.dropped_slots.insert(id);
  state.slots.erase(id);
}

const std::map<std::string, std::string>& Work::planned_leaves() {
  if (!planned_leaves_) planned_leaves_ = topology::leaves(topology_plan(state));
  return *planned_leaves_;
}

void Work::wake_at(Time time) {
  if (!out.wake || time < *out.wake) out.wake = time;
}

std::string Work::send(const MachineId& machine, agent::Command command) {
  command.id = context.random->uuid();
  std::string id = command.id;
  effect(SendCommand{machine, std::move(command)});
  return id;
}

}  // namespace espalier::reconcile
