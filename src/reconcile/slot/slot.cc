#include "reconcile/slot/slot.h"

#include <algorithm>

#include "reconcile/agents.h"
#include "reconcile/events.h"
#include "reconcile/slurm/nodes.h"

namespace espalier::reconcile {

namespace {

// first, 2 × first, 4 × first … up to most, each ± 10 % so that many do not come at once.
Millis delay_after(const Settings& settings, Random& random, int failures) {
  const int doublings = std::clamp(failures - 1, 0, 20);
  const Millis whole = std::min(settings.backoff_most, settings.backoff_first * (1 << doublings));
  return Millis(static_cast<Millis::rep>(static_cast<double>(whole.count()) * (0.9 + 0.2 * random.unit())));
}

std::string place(const Work& work, const Slot& slot) {
  return fmt::format("in Cluster {} and IG {}", work.state.cluster.name, slot.group);
}

LaunchRequest request_for(Work& work, const Slot& slot) {
  const Group& group = work.group_of(slot);
  LaunchRequest request;
  request.key = slot.launch_key;
  request.instance_type = group.instance_type;
  request.host_name = slot.node_name;
  request.cluster = work.state.cluster.id;
  request.group = slot.group;
  request.slot = slot.id;
  request.role = group.type;
  request.address = slot.address;
  request.user_data.token = slot.token;
  return request;
}

// Controller first: the others begin when it is up. A cluster that is going launches nothing.
bool turn_has_come(Work& work, const Slot& slot) {
  if (!work.observed.listed || work.deleting()) return false;
  const auto& launching = work.observed.launching;
  const auto in_group = std::ranges::count_if(launching, [&](const SlotId& id) {
    return work.state.slots.contains(id) && work.state.slots.at(id).group == slot.group;
  });
  if (in_group >= work.settings().launches_in_flight) return false;
  if (work.group_of(slot).type == NodeType::Controller) return true;
  const Slot* controller = work.controller();
  return controller && controller->state == SlotState::Ready;
}

// A pool that just said "no capacity" is left alone for a while: nobody of this group asks.
bool gate_is_open(Work& work, const Slot& slot) {
  const auto gate = work.observed.gates.find(slot.group);
  if (gate == work.observed.gates.end() || gate->second.until <= work.now()) return true;
  work.wake_at(gate->second.until);
  return false;
}

void start_launch(Work& work, Slot& slot, Cause cause) {
  if (!work.move(slot, cause)) return;
  if (slot.launch_key.empty()) {
    slot.launch_key = work.context.random->uuid();
    slot.token = fmt::format("{}.{}.{}", work.state.cluster.id.value, slot.id.value, work.context.secret(16));
  }
  slot.next_try.reset();
  work.observed.launching.insert(slot.id);
  work.effect(Launch{request_for(work, slot)});
}

void note_failure(Work& work, Slot& slot, FailureClass kind, const std::string& why) {
  const bool news = slot.failure != kind || slot.failure_message != why;
  ++work.touch(slot).attempts;
  slot.failure = kind;
  slot.failure_message = why;
  if (news)
    instance_event(work, slot, EventLevel::Error,
                   fmt::format("Failed to provision EC2 Instance in Cluster {} and InstanceGroup {}",
                               work.state.cluster.name, slot.group),
                   why);
}

void close_gate(Work& work, Slot& slot) {
  auto& gate = work.observed.gates[slot.group];
  // The answers of one round count as one failure.
  if (gate.until <= work.now())
    gate = {work.now() + delay_after(work.settings(), *work.context.random, gate.failures + 1), gate.failures + 1};
  slot.next_try = gate.until;
}

bool wait_or_retry(Work& work, Slot& slot) {
  if (!slot.wanted) return work.move(slot, Cause::kUnwanted);
  if (slot.next_try && *slot.next_try > work.now()) {
    work.wake_at(*slot.next_try);
    return false;
  }
  if (!gate_is_open(work, slot) || !turn_has_come(work, slot)) return false;
  start_launch(work, slot, Cause::kRetry);
  return true;
}

bool begin(Work& work, Slot& slot) {
  if (!slot.wanted) return work.move(slot, Cause::kUnwanted);
  if (!gate_is_open(work, slot) || !turn_has_come(work, slot)) return false;
  instance_event(work, slot, EventLevel::Info,
                 fmt::format("Instance Creation started successfully {}", place(work, slot)));
  start_launch(work, slot, Cause::kTurn);
  return true;
}

// After a restart the call that the row speaks of may have been lost: it is made again, with the same key.
bool repeat_launch(Work& work, const Slot& slot) {
  if (work.observed.listed && !work.observed.launching.contains(slot.id)) {
    work.observed.launching.insert(slot.id);
    work.effect(Launch{request_for(work, slot)});
  }
  return false;
}

bool missed_deadline(Work& work, Slot& slot) {
  const auto limit = deadline(slot.state, work.settings().deadlines);
  if (!limit) return false;
  if (work.now() < slot.since + *limit) {
    work.wake_at(slot.since + *limit);
    return false;
  }
  lose(work, slot, FailureClass::Bootstrap,
       fmt::format("Instance {} of {} was still {} after {} s", slot.machine ? slot.machine->id.value : "",
                   slot.node_name, enum_name(slot.state), limit->count() / 1000));
  return true;
}

bool boot(Work& work, Slot& slot) {
  if (!slot.wanted) return work.move(slot, Cause::kUnwanted);
  if (!slot.credential.empty() && work.observed.agents.contains(slot.machine->id))
    return work.move(slot, Cause::kEnrolled);
  return missed_deadline(work, slot);
}

bool configure(Work& work, Slot& slot) {
  if (!slot.wanted) return work.move(slot, Cause::kUnwanted);
  if (placed(work, slot)) send_setup(work, slot);
  return missed_deadline(work, slot);
}

bool join(Work& work, Slot& slot) {
  if (!slot.wanted) return work.move(slot, Cause::kUnwanted);
  if (!admitted(work, slot)) {
    call_again(work, slot);
    // What an admin keeps out is no fault of the machine's.
    return foreign_reason(work, slot.node_name).empty() && missed_deadline(work, slot);
  }
  if (!work.move(slot, Cause::kAdmitted)) return false;
  slot.attempts = 0;
  slot.failure = FailureClass::None;
  slot.failure_message.clear();
  instance_event(
      work, slot, EventLevel::Info,
      fmt::format("Instance Creation {} {} completed successfully", slot.machine->id.value, place(work, slot)));
  return true;
}

bool drain(Work& work, Slot& slot) {
  return (work.deleting() || drained(work, slot)) && work.move(slot, Cause::kDrained);
}

bool leave(Work& work, Slot& slot) {
  if (!slot.machine) {
    work.move(slot, Cause::kTerminated);
    return true;
  }
  const MachineId id = slot.machine->id;
  if (work.observed.terminating.contains(id)) return false;
  if (!work.deleting() && !released(work, slot)) return false;
  if (const auto after = work.observed.terminate_after.find(id);
      after != work.observed.terminate_after.end() && after->second > work.now()) {
    work.wake_at(after->second);
    return false;
  }
  instance_event(
      work, slot, EventLevel::Info,
      fmt::format("Termination of EC2 Instance {} is currently in progress {}", id.value, place(work, slot)));
  work.observed.terminating.insert(id);
  work.effect(Terminate{id});
  return false;
}

}  // namespace

bool advance(Work& work, Slot& slot) {
  switch (slot.state) {
    case SlotState::Wanted:
      return begin(work, slot);
    case SlotState::Launching:
      return repeat_launch(work, slot);
    case SlotState::Booting:
      return boot(work, slot);
    case SlotState::Configuring:
      return configure(work, slot);
    case SlotState::Joining:
      return join(work, slot);
    case SlotState::Ready:
      return !slot.wanted && work.move(slot, Cause::kUnwanted);
    case SlotState::Draining:
      return drain(work, slot);
    case SlotState::Terminating:
      return leave(work, slot);
    case SlotState::Backoff:
      return wait_or_retry(work, slot);
    case SlotState::Gone:
      return false;
  }
  return false;
}

void lose(Work& work, Slot& slot, FailureClass kind, const std::string& why) {
  const bool was_ready = slot.state == SlotState::Ready || slot.state == SlotState::Draining;
  if (!next(slot.state, Cause::kLost)) return;
  if (was_ready) {
    instance_event(
        work, slot, EventLevel::Warn,
        fmt::format("Instance {} {} was lost and will be replaced", slot.machine->id.value, place(work, slot)), why);
  } else {
    note_failure(work, slot, kind, why);
    slot.next_try = work.now() + delay_after(work.settings(), *work.context.random, slot.attempts);
  }
  work.move(slot, Cause::kLost);
}

namespace {

void launched(Work& work, Slot& slot, const ProvidedMachine& provided) {
  work.give_machine(slot, provided);
  work.observed.gates.erase(slot.group);
  work.set(slot, ConditionType::Launched, true, "the provider gave a machine");
  work.move(slot, Cause::kLaunched);
  instance_event(work, slot, EventLevel::Info,
                 fmt::format("EC2 Instance {} successfully provisioned {}", slot.machine->id.value, place(work, slot)));
  const bool exited = work.observed.exited.erase(slot.machine->id) > 0;  // its end can be told before its launch
  if (exited || !provided.running)
    lose(work, slot, FailureClass::BadMachine, fmt::format("Instance {} has ended", slot.machine->id.value));
}

}  // namespace

void on_launch_done(Work& work, const LaunchDone& done) {
  Slot* slot = work.slot(done.slot);
  if (!slot) {  // the cluster forgot it: a machine that came of it has to go
    if (done.outcome) work.effect(Terminate{done.outcome->machine.id});
    return;
  }
  work.observed.launching.erase(done.slot);
  if (slot->state != SlotState::Launching || slot->launch_key != done.key) return;  // late or twice: known already
  if (done.outcome) return launched(work, *slot, *done.outcome);
  const LaunchFailure& failure = done.outcome.error();
  if (slot->wanted) note_failure(work, *slot, failure.kind, failure.message);
  if (failure.kind == FailureClass::Shortage || failure.kind == FailureClass::Throttling)
    close_gate(work, *slot);
  else
    slot->next_try = work.now() + delay_after(work.settings(), *work.context.random, slot->attempts);
  work.move(*slot, Cause::kFailed);
}

void on_terminate_done(Work& work, const TerminateDone& done) {
  work.observed.terminating.erase(done.machine);
  Slot* slot = work.slot_of(done.machine);
  if (!slot && !done.result) work.observed.list_at = work.now() + Millis(5000);  // nobody's: found again by the list
  if (!slot || slot->state != SlotState::Terminating) return;
  if (!done.result) {
    work.observed.terminate_after[done.machine] = work.now() + Millis(5000);
    instance_event(work, *slot, EventLevel::Error,
                   fmt::format("Failed to terminate EC2 Instance {} {}", done.machine.value, place(work, *slot)),
                   done.result.error().message);
    return;
  }
  instance_event(
      work, *slot, EventLevel::Info,
      fmt::format("Instance Termination {} {} completed successfully", done.machine.value, place(work, *slot)));
  work.take_machine(*slot);
}

void on_machine_lost(Work& work, const MachineId& machine, const std::string& why) {
  if (Slot* slot = work.slot_of(machine)) lose(work, *slot, FailureClass::BadMachine, why);
}

void on_listed(Work& work, const MachinesListed& listed) {
  work.observed.listed = true;
  work.observed.listing = false;
  std::set<MachineId> seen;
  for (const ProvidedMachine& found : listed.machines) {
    seen.insert(found.machine.id);
    Slot* slot = work.slot(found.slot);
    const bool ours = slot && slot->machine && slot->machine->id == found.machine.id;
    const bool awaited = slot && slot->state == SlotState::Launching && slot->launch_key == found.key;
    if (ours && !found.running)
      lose(work, *slot, FailureClass::BadMachine, fmt::format("Instance {} has ended", found.machine.id.value));
    else if (awaited && found.running)
      on_launch_done(work, {found.slot, found.key, found});
    else if (!ours && !awaited && !work.observed.terminating.contains(found.machine.id))
      work.effect(Terminate{found.machine.id});  // nobody's: never leaked
  }
  std::set<MachineId> missing;
  for (auto& [id, slot] : work.state.slots) {
    if (!slot.machine || seen.contains(slot.machine->id)) continue;
    // Absent once is not gone: lists lag.
    if (work.observed.missing.contains(slot.machine->id))
      lose(work, slot, FailureClass::BadMachine, fmt::format("Instance {} no longer exists", slot.machine->id.value));
    else
      missing.insert(slot.machine->id);
  }
  work.observed.list_at = missing.empty() ? std::nullopt : std::optional(work.now() + Millis(2000));
  work.observed.missing = std::move(missing);
}

void on_capacity_changed(Work& work) {
  work.observed.gates.clear();
  for (auto& [id, slot] : work.state.slots)
    if (slot.state == SlotState::Backoff && slot.failure == FailureClass::Shortage)
      work.touch(slot).next_try = work.now();
}

}  // namespace espalier::reconcile
