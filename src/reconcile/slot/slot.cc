#include "reconcile/slot/slot.h"

#include <algorithm>
#include <utility>

#include "model/instance_type.h"
#include "reconcile/agents.h"
#include "reconcile/check/check.h"
#include "reconcile/events.h"
#include "reconcile/group/group.h"
#include "reconcile/lifecycle/scripts.h"
#include "reconcile/repair/health.h"
#include "reconcile/repair/repair.h"
#include "reconcile/slurm/nodes.h"

namespace espalier::reconcile {

namespace {

constexpr Millis kListSoon{5000};

std::string place(const Work& work, const Slot& slot) {
  return fmt::format("in Cluster {} and IG {}", work.state.cluster.name, slot.group);
}

LaunchRequest request_for(Work& work, const Slot& slot) {
  const Group& group = work.group_of(slot);
  LaunchRequest request;
  request.key = slot.launch_key;
  request.instance_type = slot.instance_type;
  request.host_name = slot.node_name;
  request.cluster = work.state.cluster.id;
  request.group = slot.group;
  request.slot = slot.id;
  request.role = group.type;
  request.address = slot.address;
  request.image = slot.image;
  request.user_data.token = slot.token;
  return request;
}

void start_launch(Work& work, Slot& slot, const std::string& pool) {
  const bool first = slot.state == SlotState::Wanted;
  if (!work.move(slot, first ? Cause::kTurn : Cause::kRetry)) return;
  if (first)
    instance_event(work, slot, EventLevel::Info,
                   fmt::format("Instance Creation started successfully {}", place(work, slot)));
  // A key stands for one set of words; one whose outcome is not known keeps them.
  const std::string& image = work.group_of(slot).image;
  const bool other = slot.instance_type != pool || (slot.image != image && slot.failure != FailureClass::Unknown);
  if (slot.launch_key.empty() || other) {
    slot.image = image;
    slot.launch_key = work.context.random->uuid();
    slot.token = fmt::format("{}.{}.{}", work.state.cluster.id.value, slot.id.value, work.context.secret(16));
    slot.instance_type = pool;
  }
  work.observed.launching.insert(slot.id);
  work.effect(Launch{pool, request_for(work, slot)});
}

bool may_launch_from(const Slot& slot, const std::string& pool) {
  return !is_bound(slot) || slot.instance_type == pool;
}

bool is_of_pool(FailureClass kind) {
  return kind == FailureClass::Shortage || kind == FailureClass::Quota || kind == FailureClass::Throttling;
}

// One event for a fault, not one for every slot and every try.
void note_failure(Work& work, Slot& slot, FailureClass kind, const std::string& why) {
  ++work.touch(slot).attempts;
  slot.failure = kind;
  slot.failure_message = why;
  if (!note_trouble(work, work.group_of(slot), kind, why)) return;
  instance_event(work, slot, EventLevel::Error,
                 fmt::format("Failed to provision EC2 Instance in Cluster {} and InstanceGroup {}",
                             work.state.cluster.name, slot.group),
                 why);
}

void list_soon(Work& work) {
  const Time soon = work.now() + kListSoon;
  if (!work.observed.list_at || soon < *work.observed.list_at) work.observed.list_at = soon;
}

bool lacks_position(const Slot& slot) {
  if (!slot.machine || !slot.machine->position.network_nodes.empty() || !slot.machine->position.domain.empty())
    return false;
  const InstanceType* type = find_instance_type(slot.instance_type);
  return type && type->network_layers > 0;
}

// A machine may still come of a launch whose outcome is not known. The key is given up when a list lacks it that was
// asked for late enough: one that hangs says nothing.
bool may_be_forgotten(Work& work, const Slot& slot) {
  if (slot.failure != FailureClass::Unknown || slot.launch_key.empty()) return true;
  if (work.observed.list_known >= slot.since + work.settings().unknown_kept) return true;
  list_soon(work);
  work.look_at(slot, work.now() + kListSoon);
  return false;
}

bool wait_or_retry(Work& work, Slot& slot) {
  if (!slot.wanted) return may_be_forgotten(work, slot) && work.move(slot, Cause::kUnwanted);
  if (!slot.next_try) return false;
  if (*slot.next_try > work.now())
    work.look_at(slot, *slot.next_try);
  else
    work.touch(slot).next_try.reset();  // from now on it waits for its pool
  return false;
}

bool begin(Work& work, Slot& slot) { return !slot.wanted && work.move(slot, Cause::kUnwanted); }

// After a restart the call that the row speaks of may have been lost: it is made again, with the same key.
bool repeat_launch(Work& work, const Slot& slot) {
  if (work.observed.listed && work.observed.launching.insert(slot.id).second)
    work.effect(Launch{slot.instance_type, request_for(work, slot)});
  return false;
}

bool missed_deadline(Work& work, Slot& slot) {
  const auto limit = time_limit(slot, work.group_of(slot), work.settings());
  if (!limit) return false;
  if (work.now() < slot.since + *limit) {
    work.look_at(slot, slot.since + *limit);
    return false;
  }
  const std::string fault = fault_text(work.observed, slot);
  lose(work, slot, FailureClass::Bootstrap,
       fmt::format("Instance {} of {} was still {} after {} s{}{}", slot.machine ? slot.machine->id.value : "",
                   slot.node_name, enum_name(slot.state), limit->count() / 1000, fault.empty() ? "" : ": ", fault));
  return true;
}

bool boot(Work& work, Slot& slot) {
  if (!slot.wanted) return work.move(slot, Cause::kUnwanted);
  if (reboot_pending(slot)) return reboot(work, slot);
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
  if (check_is_due(slot) && may_be_checked(work, slot)) return enter_check(work, slot);
  // The reason that a check left is an admin's from here on.
  if (is_to_be_kept_out(slot) && !foreign_reason(work, slot.node_name).empty()) work.touch(slot).check.reset();
  const bool back_from_check = slot.check && was_in_use(slot);
  if (!admitted(work, slot)) {
    call_again(work, slot);
    // What an admin keeps out is no fault of the machine's.
    return foreign_reason(work, slot.node_name).empty() && missed_deadline(work, slot);
  }
  if (!work.move(slot, Cause::kAdmitted)) return false;
  slot.attempts = 0;
  slot.failure = FailureClass::None;
  slot.failure_message.clear();
  note_ready(work, work.group_of(slot));
  const bool rebooted = slot.repair && slot.repair->kind == RepairKind::Reboot && !slot.repair->done;
  if (slot.repair) slot.repair->done = true;
  slot.check.reset();
  if (!back_from_check)
    instance_event(work, slot, EventLevel::Info,
                   fmt::format("Instance {} {} {} completed successfully", rebooted ? "Reboot" : "Creation",
                               slot.machine->id.value, place(work, slot)));
  return true;
}

bool serve(Work& work, Slot& slot) {
  if (!slot.wanted) return work.move(slot, Cause::kUnwanted);
  renew_credential(work, slot);
  return false;
}

bool drain(Work& work, Slot& slot) {
  if (!work.ending() && !drained(work, slot)) return false;
  const bool stays = slot.wanted && !work.ending() && reboot_pending(slot);
  return work.move(slot, stays ? Cause::kRebooted : Cause::kDrained);
}

bool leave(Work& work, Slot& slot) {
  if (!slot.machine) {
    work.move(slot, Cause::kTerminated);
    return true;
  }
  const MachineId id = slot.machine->id;
  if (work.observed.terminating.contains(id)) return false;
  if (!work.ending() && !released(work, slot)) return false;
  if (const auto after = work.observed.terminate_after.find(id);
      after != work.observed.terminate_after.end() && after->second > work.now()) {
    work.look_at(slot, after->second);
    return false;
  }
  if (!work.observed.terminate_after.contains(id))
    instance_event(
        work, slot, EventLevel::Info,
        fmt::format("Termination of EC2 Instance {} is currently in progress {}", id.value, place(work, slot)));
  work.observed.terminating.insert(id);
  work.effect(Terminate{id});
  return false;
}

}  // namespace

bool was_in_use(const Slot& slot) {
  const auto schedulable = slot.conditions.find(std::string(enum_name(ConditionType::Schedulable)));
  return schedulable != slot.conditions.end() && schedulable->second.holds;
}

std::optional<Millis> time_limit(const Slot& slot, const Group& group, const Settings& settings) {
  if (slot.state == SlotState::Booting && reboot_pending(slot)) return std::nullopt;
  auto limit = deadline(slot.state, settings.deadlines);
  if (limit && slot.state == SlotState::Configuring) *limit += script_time(settings, group);
  return limit;
}

bool is_bound(const Slot& slot) { return slot.failure == FailureClass::Unknown && !slot.launch_key.empty(); }

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
      return serve(work, slot);
    case SlotState::Checking:
      return advance_check(work, slot);
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
  const bool was_ready =
      slot.state == SlotState::Ready || slot.state == SlotState::Checking || slot.state == SlotState::Draining;
  if (!next(slot.state, Cause::kLost)) return;
  if (was_ready) {
    instance_event(
        work, slot, EventLevel::Warn,
        fmt::format("Instance {} {} was lost and will be replaced", slot.machine->id.value, place(work, slot)), why);
  } else {
    note_failure(work, slot, kind, why);
    note_boot_failure(work, work.group_of(slot));
    slot.next_try = work.now() + delay_after(work.settings().machine, *work.context.random, slot.attempts);
  }
  work.move(slot, Cause::kLost);
}

namespace {

void launched(Work& work, Slot& slot, const ProvidedMachine& provided) {
  work.give_machine(slot, provided);
  if (lacks_position(slot)) list_soon(work);
  prepare_check(work, slot);
  work.touch(slot).next_try.reset();
  note_launched(work, work.group_of(slot));
  work.set(slot, ConditionType::Launched, true, "the provider gave a machine");
  work.move(slot, Cause::kLaunched);
  instance_event(work, slot, EventLevel::Info,
                 fmt::format("EC2 Instance {} successfully provisioned {}", slot.machine->id.value, place(work, slot)));
  const bool exited = work.observed.exited.erase(slot.machine->id) > 0;  // its end can be told before its launch
  if (exited || !provided.running)
    lose(work, slot, FailureClass::BadMachine, fmt::format("Instance {} has ended", slot.machine->id.value));
}

}  // namespace

void on_granted(Work& work, const Granted& granted) {
  const auto found = work.state.groups.find(granted.group);
  int left = granted.count;
  if (found != work.state.groups.end()) {
    left = std::min(left, demand_of(work, found->second));
    const int unused = granted.count - left;
    const auto& of_group = work.index().group(granted.group);
    const std::vector<int> waiting(of_group.waiting.begin(), of_group.waiting.end());
    for (const int number : waiting) {
      if (left == 0) break;
      Slot& slot = *work.slot(of_group.by_number.at(number));
      if (!may_launch_from(slot, granted.pool)) continue;
      start_launch(work, slot, granted.pool);
      --left;
    }
    left += unused;
  }
  work.observed.asked[{granted.group, granted.pool}].returned += left;
}

void on_launch_done(Work& work, const LaunchDone& done) {
  Slot* slot = work.slot(done.slot);
  if (!slot) {  // the cluster forgot it: a machine that came of it has to go
    if (done.outcome) work.effect(Terminate{done.outcome->machine.id});
    return;
  }
  work.observed.launching.erase(done.slot);
  const bool late = slot->state == SlotState::Backoff && done.outcome.has_value();
  if (slot->launch_key != done.key || (slot->state != SlotState::Launching && !late)) return;  // known already
  // Without its address it is of no use yet, and no failure: a list has it soon, or the same question once more.
  if (done.outcome && done.outcome->machine.address.empty() && slot->wanted) return list_soon(work);
  if (done.outcome) return launched(work, *slot, *done.outcome);
  const LaunchFailure& failure = done.outcome.error();
  if (slot->wanted)
    note_failure(work, *slot, failure.kind, failure.message);
  else
    work.touch(*slot).failure = failure.kind;  // an unknown one keeps it until the lists have had their time
  // A pool's failure is the pool's to wait out; then any slot of the group may go.
  if (is_of_pool(failure.kind))
    work.touch(*slot).next_try.reset();
  else
    work.touch(*slot).next_try =
        work.now() + delay_after(work.settings().machine, *work.context.random, slot->attempts);
  if (failure.kind == FailureClass::Unknown) list_soon(work);
  work.move(*slot, Cause::kFailed);
}

void on_terminate_done(Work& work, const TerminateDone& done) {
  work.observed.terminating.erase(done.machine);
  Slot* slot = work.slot_of(done.machine);
  if (done.result) work.observed.strangers.erase(done.machine);
  if (!slot && !done.result) list_soon(work);  // nobody's: found again by the list
  if (!slot || slot->state != SlotState::Terminating) return;
  if (!done.result) {
    const bool news = !work.observed.terminate_after.contains(done.machine);
    work.observed.terminate_after[done.machine] = work.now() + Millis(5000);
    work.look_at(*slot);
    if (!news) return;
    instance_event(work, *slot, EventLevel::Error,
                   fmt::format("Failed to terminate EC2 Instance {} {}", done.machine.value, place(work, *slot)),
                   done.result.error().message);
    return;
  }
  instance_event(
      work, *slot, EventLevel::Info,
      fmt::format("Instance Termination {} {} completed successfully", done.machine.value, place(work, *slot)));
  work.take_machine(*slot);
  work.look_at(*slot);
}

void on_machine_lost(Work& work, const MachineId& machine, const std::string& why) {
  if (Slot* slot = work.slot_of(machine)) lose(work, *slot, FailureClass::BadMachine, why);
}

namespace {

// It may become known only after the launch. What a provider makes of it later does not count: names change, cables do
// not.
void note_position(Work& work, Slot& slot, const Position& position) {
  if (!lacks_position(slot) || (position.network_nodes.empty() && position.domain.empty())) return;
  work.touch(slot).machine->position = position;
  work.place_changed(slot);
}

// A machine that one list lacks is not gone: lists lag. It is when others lack it up to one that was asked for so much
// later that it shows at least what was when the first came. One pause between them may have been none at all: clocks
// are set.
void look_for_missing(Work& work, const std::set<MachineId>& listed) {
  constexpr int kPauses = 3;
  constexpr int kEnough = kPauses + 2;
  const Millis pause = work.settings().list_lag / kPauses;
  auto before = std::exchange(work.observed.missing, {});
  Time next = work.now() + work.settings().relist;
  for (auto& [id, slot] : work.state.slots) {
    if (lacks_position(slot) && work.now() < slot.machine->launched_at + work.settings().unplaced_after)
      next = std::min(next, work.now() + kListSoon);
    if (!slot.machine || listed.contains(slot.machine->id)) continue;
    Observed::Missing missing = before[slot.machine->id];
    if (work.observed.list_known >= missing.at + pause) missing = {missing.lists + 1, work.now()};
    if (missing.lists >= kEnough) {
      lose(work, slot, FailureClass::BadMachine, fmt::format("Instance {} no longer exists", slot.machine->id.value));
      continue;
    }
    work.observed.missing[slot.machine->id] = missing;
    next = std::min(next, missing.at + pause);
  }
  work.observed.list_at = next;
}

// Nobody's: never leaked.
void end_stranger(Work& work, const MachineId& machine) {
  work.observed.strangers.insert(machine);
  if (work.observed.terminating.insert(machine).second) work.effect(Terminate{machine});
}

}  // namespace

void on_listed(Work& work, const MachinesListed& listed) {
  work.observed.listed = true;
  work.observed.listing = false;
  work.observed.list_known = work.observed.list_asked;
  std::set<MachineId> seen;
  for (const ProvidedMachine& found : listed.machines) {
    seen.insert(found.machine.id);
    Slot* slot = work.slot(found.slot);
    const bool ours = slot && slot->machine && slot->machine->id == found.machine.id;
    const bool launching = slot && (slot->state == SlotState::Launching || slot->state == SlotState::Backoff);
    const bool awaited = launching && slot->launch_key == found.key;
    if (ours && found.running) note_position(work, *slot, found.machine.position);
    if (ours && !found.running)
      lose(work, *slot, FailureClass::BadMachine, fmt::format("Instance {} has ended", found.machine.id.value));
    else if (awaited && found.running && (!found.machine.address.empty() || !slot->wanted))
      on_launch_done(work, {found.slot, found.key, found});
    else if (!ours && !awaited)
      end_stranger(work, found.machine.id);
  }
  std::erase_if(work.observed.strangers, [&](const MachineId& id) { return !seen.contains(id); });
  work.look_at(SlotState::Launching);
  look_for_missing(work, seen);
}

}  // namespace espalier::reconcile
