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

Slot* Work::slot_of_node(const std::string& node_name) {
  const SlotId* id = index().by_node(node_name);
  return id ? slot(*id) : nullptr;
}

Slot* Work::controller() { return observed.controller ? slot(*observed.controller) : nullptr; }

Slot* Work::ready_controller() {
  Slot* found = controller();
  const bool here = found && found->machine && observed.agents.contains(found->machine->id);
  const bool up = here && (found->state == SlotState::Ready || found->state == SlotState::Joining);
  return up ? found : nullptr;
}

const Index& Work::index() {
  for (const SlotId& id : unindexed)
    if (const Slot* changed = slot(id)) observed.index.put(*changed);
  unindexed.clear();
  return observed.index;
}

std::vector<Slot*> Work::slots_in(SlotState in) {
  std::vector<Slot*> slots;
  for (const SlotId& id : index().in_state(in)) slots.push_back(slot(id));
  return slots;
}

Slot& Work::add(Slot slot) {
  const SlotId id = slot.id;
  Slot& added = touch(state.slots[id] = std::move(slot));
  if (group_of(added).type == NodeType::Controller) observed.controller = id;
  look_at(added);
  places_changed();
  return added;
}

Slot& Work::touch(Slot& slot) {
  out.changes.slots.insert(slot.id);
  observed.to_order.insert(slot.id);
  if (unindexed.empty() || unindexed.back() != slot.id) unindexed.push_back(slot.id);
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
  slot.since = now();
  look_at(slot);
  if (*to == SlotState::Terminating) place_changed(slot);
  if (observed.controller != slot.id) return true;
  // What the others may do depends on the controller.
  for (const SlotState waiting :
       {SlotState::Configuring, SlotState::Joining, SlotState::Checking, SlotState::Draining, SlotState::Terminating})
    look_at(waiting);
  return true;
}

void Work::look_at(SlotState in) {
  for (const SlotId& id : index().in_state(in)) observed.agenda.now(id);
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
  place_changed(slot);
  observed.slot_of_machine[provided.machine.id] = slot.id;
  if (group_of(slot).type == NodeType::Controller) slot.address = provided.machine.address;
}

void Work::take_machine(Slot& slot) {
  if (!slot.machine) return;
  place_changed(slot);
  const MachineId id = slot.machine->id;
  observed.slot_of_machine.erase(id);
  observed.agents.erase(id);
  observed.setup_sent.erase(id);
  observed.hosts_sent.erase(id);
  observed.imex_sent.erase(id);
  observed.terminate_after.erase(id);
  observed.rebooting.erase(id);
  observed.checks_sent.erase(id);
  observed.renewals.erase(id);
  observed.health.erase(id);
  observed.silent.erase(id);
  observed.script_tries.erase(id);
  if (slot.repair) slot.repair->begun = true;
  observed.placed.erase(slot.id);
  observed.unranked.erase(slot.id);
  observed.enrolment_refused.erase(slot.id);
  touch(slot).machine.reset();
  slot.launch_key.clear();
  slot.token.clear();
  slot.credential.clear();
  slot.renewed.clear();
  slot.slurm.clear();
  slot.conditions.clear();
}

void Work::drop(const SlotId& id) {
  places_changed();
  if (const Slot* gone = slot(id)) observed.looked_at.erase(gone->node_name);
  out.changes.slots.erase(id);
  out.changes.dropped_slots.insert(id);
  observed.index.drop(id);
  observed.agenda.drop(id);
  observed.suspects.erase(id);
  observed.to_order.erase(id);
  observed.unseen.erase(id);
  observed.moved.erase(id);
  observed.called_again.erase(id);
  if (observed.controller == id) observed.controller.reset();
  state.slots.erase(id);
}

void Work::places_changed() {
  observed.wanted_stale = true;
  observed.hosts_stale = true;
}

void Work::place_changed(const Slot& slot) {
  if (group_of(slot).type == NodeType::Controller) return places_changed();
  if (group_of(slot).type == NodeType::Compute) observed.moved.insert(slot.id);
  observed.hosts_stale = true;
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
