#include "reconcile/repair/repair.h"

#include "reconcile/events.h"
#include "reconcile/slot/slot.h"
#include "reconcile/slurm/nodes.h"

namespace espalier::reconcile {

namespace {

constexpr const char* kActionReplace = "Action:Replace";
constexpr const char* kActionReboot = "Action:Reboot";

std::string place(const Work& work, const Slot& slot) {
  return fmt::format("Cluster {} and IG {}", work.state.cluster.name, slot.group);
}

Cause cause_of(const Slot& slot, const RepairOrder& order) {
  if (order.kind == RepairKind::Replace) return order.at_once ? Cause::kLost : Cause::kReplaced;
  const bool no_jobs = slot.state == SlotState::Configuring;
  return order.at_once || no_jobs ? Cause::kRebooted : Cause::kReplaced;
}

}  // namespace

bool begin_repair(Work& work, Slot& slot, const RepairOrder& order) {
  const Cause cause = cause_of(slot, order);
  const bool booting = slot.state == SlotState::Booting && order.kind == RepairKind::Reboot;
  if (!slot.machine || booting || !next(slot.state, cause)) return false;
  work.touch(slot).repair = Repair{order.kind, false, false, order.own, order.why, work.now()};
  instance_event(work, slot, order.own ? EventLevel::Warn : EventLevel::Info,
                 fmt::format("Instance {} is to be {} in {}: {}", slot.machine->id.value,
                             order.kind == RepairKind::Reboot ? "rebooted" : "replaced", place(work, slot), order.why));
  return work.move(slot, cause);
}

bool reboot_pending(const Slot& slot) {
  return slot.repair && slot.repair->kind == RepairKind::Reboot && !slot.repair->begun && !slot.repair->done;
}

bool reboot(Work& work, Slot& slot) {
  const MachineId& id = slot.machine->id;
  // Without a controller nobody could take the node out of Slurm first: it would come back as it went.
  const bool in_slurm = work.group_of(slot).type == NodeType::Compute;
  if (in_slurm && !work.ready_controller()) return false;
  if (work.observed.rebooting.contains(id) || !released(work, slot)) return false;
  instance_event(work, slot, EventLevel::Info,
                 fmt::format("Reboot of EC2 Instance {} is currently in progress on {}", id.value, place(work, slot)));
  // Its agent calls anew, and counts as here only then.
  work.observed.agents.erase(id);
  work.observed.setup_sent.erase(id);
  work.observed.rebooting.insert(id);
  work.effect(Reboot{id});
  return false;
}

void on_reboot_done(Work& work, const RebootDone& done) {
  work.observed.rebooting.erase(done.machine);
  Slot* slot = work.slot_of(done.machine);
  if (!slot || slot->state != SlotState::Booting || !reboot_pending(*slot)) return;
  work.touch(*slot).repair->begun = true;
  slot->since = work.now();  // its time to boot begins now
  // What was wrong is to show again.
  work.observed.sick.erase(slot->id);
  work.observed.silent.erase(done.machine);
  work.look_at(*slot);
  if (done.result) return;
  const std::string text =
      fmt::format("Failed to submit reboot request for EC2 Instance {} in {}", done.machine.value, place(work, *slot));
  instance_event(work, *slot, EventLevel::Error, text, done.result.error().message);
  lose(work, *slot, FailureClass::BadMachine, done.result.error().message);
}

bool is_order(const std::string& reason) { return reason == kActionReplace || reason == kActionReboot; }

void obey_slurm(Work& work, Slot& slot, const agent::NodeView& view) {
  if (!is_order(view.reason) || !slot.wanted) return;
  const slurm::NodeFacts facts = slurm::read_state(view.state);
  if (!facts.down && !facts.failing) return;
  const bool waiting = slot.state == SlotState::Draining && slot.repair && !slot.repair->begun;
  if (slot.state != SlotState::Ready && !(waiting && facts.down)) return;
  RepairOrder order;
  order.kind = view.reason == kActionReplace ? RepairKind::Replace : RepairKind::Reboot;
  order.at_once = facts.down;
  order.why = fmt::format("{} in Slurm", view.reason);
  begin_repair(work, slot, order);
}

}  // namespace espalier::reconcile
