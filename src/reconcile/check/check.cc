#include "reconcile/check/check.h"

#include <algorithm>
#include <set>

#include "reconcile/check/judge.h"
#include "reconcile/events.h"
#include "reconcile/repair/health.h"
#include "reconcile/repair/repair.h"
#include "reconcile/slurm/nodes.h"

namespace espalier::reconcile {

namespace {

constexpr std::size_t kMostPeers = 1000;  // each is sent the addresses of all
constexpr Millis kRound{1000};
constexpr Millis kBudgetRound{10'000};

using Kinds = std::set<CheckKind>;

bool wants(const DeepCheck& check, CheckKind kind) { return std::ranges::find(check.kinds, kind) != check.kinds.end(); }
bool is_connected(const DeepCheck& check) { return wants(check, CheckKind::InstanceConnectivity); }
bool has_begun(const DeepCheck& check) { return check.begun_at != Time(); }

void add_kinds(Slot& slot, const Kinds& kinds) {
  Kinds all = kinds;
  if (slot.check) all.insert(slot.check->kinds.begin(), slot.check->kinds.end());
  slot.check = DeepCheck();
  slot.check->kinds.assign(all.begin(), all.end());
}

Kinds on_start(const Group& group) {
  Kinds kinds;
  const auto* wanted = group.type == NodeType::Compute ? group.spec.if_contains("OnStartDeepHealthChecks") : nullptr;
  if (wanted && wanted->is_array())
    for (const auto& name : wanted->get_array())
      if (const auto kind =
              name.is_string() ? enum_value<CheckKind>(std::string_view(name.get_string())) : std::nullopt)
        kinds.insert(*kind);
  return kinds;
}

// ---- what a user asks for

Result<std::vector<SlotId>> slots_of(Work& work, const GroupCheck& asked) {
  const auto found = work.state.groups.find(asked.group);
  if (found == work.state.groups.end() || found->second.deleting)
    return fail(ErrorCode::kNotFound, "the cluster has no InstanceGroup '{}'", asked.group);
  if (found->second.type != NodeType::Compute)
    return fail(ErrorCode::kInvalid, "InstanceGroup '{}' is no worker group: only those are checked", asked.group);
  std::vector<SlotId> slots;
  for (const MachineId& machine : asked.machines) {
    const Slot* slot = work.slot_of(machine);
    if (!slot || slot->group != asked.group)
      return fail(ErrorCode::kNotFound, "InstanceGroup '{}' has no instance {}", asked.group, machine.value);
    if (slot->state != SlotState::Ready || !slot->wanted)
      return fail(ErrorCode::kInvalid, "Instance {} is not Running: it cannot be checked now", machine.value);
    slots.push_back(slot->id);
  }
  if (!asked.machines.empty()) return slots;
  for (const auto& [number, id] : work.index().group(asked.group).by_number)
    if (const Slot* slot = work.slot(id); slot->state == SlotState::Ready && slot->wanted) slots.push_back(id);
  return slots;
}

// ---- its way

std::vector<agent::HostEntry> peers_of(Work& work, const Slot& slot) {
  std::vector<agent::HostEntry> peers;
  const auto add = [&](const Slot& other) {
    if (other.id != slot.id && other.machine && peers.size() < kMostPeers)
      peers.push_back({other.node_name, other.machine->address});
  };
  for (const Slot* other : work.slots_in(SlotState::Checking))
    if (other->check && is_connected(*other->check)) add(*other);
  // A connection disturbs no job: nodes in use are good as witnesses.
  for (const auto& [number, id] : work.index().group(slot.group).by_number)
    if (const Slot* other = work.slot(id); other->state == SlotState::Ready) add(*other);
  return peers;
}

Time end_of(const Work& work, const DeepCheck& check) {
  return check.begun_at + work.settings().check_limit + work.settings().check_answer;
}

void order(Work& work, Slot& slot) {
  if (!has_begun(*slot.check)) work.touch(slot).check->begun_at = work.now();
  agent::Command command;
  command.check = agent::CheckOrder{slot.check->id, slot.check->kinds, {}, work.settings().check_limit};
  if (is_connected(*slot.check)) command.check->peers = peers_of(work, slot);
  work.observed.checks_sent[slot.machine->id] = work.send(slot.machine->id, std::move(command));
  work.look_at(slot, end_of(work, *slot.check));
}

// Those of its group that are still coming up are waited for a while: new machines are to find each other.
bool has_company(Work& work, const Slot& slot) {
  if (!is_connected(*slot.check) || work.index().group(slot.group).under_way() == 0) return true;
  return work.now() >= slot.check->asked_at + work.settings().check_gather;
}

std::string text_of(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::Healthy:
      return "passed";
    case CheckVerdict::NotChecked:
      return "could not be done: the node is used again without it";
    case CheckVerdict::Drain:
      return "failed: the node is kept from jobs until an admin resumes it in Slurm";
    case CheckVerdict::Replace:
      return "failed: the instance is to be replaced";
  }
  return "";
}

// An instance that failed again right after it was replaced is not what is wrong.
bool may_replace(const Work& work, const Slot& slot) {
  const bool again = slot.repair && slot.repair->own && slot.repair->kind == RepairKind::Replace &&
                     work.now() < slot.repair->at + work.settings().repair.again;
  return work.state.cluster.node_recovery == "Automatic" && !again;
}

void finish(Work& work, Slot& slot, Judgement judgement) {
  if (judgement.verdict == CheckVerdict::Replace && !may_replace(work, slot)) judgement.verdict = CheckVerdict::Drain;
  DeepCheck& check = *work.touch(slot).check;
  check.done = true;
  check.verdict = judgement.verdict;
  check.reason = judgement.reason;
  const bool good = judgement.verdict == CheckVerdict::Healthy;
  const bool failed = judgement.verdict >= CheckVerdict::Drain;
  const auto level = good ? EventLevel::Info : failed ? EventLevel::Error : EventLevel::Warn;
  instance_event(work, slot, level,
                 fmt::format("Deep health check of Instance {} in Cluster {} and IG {} {}", slot.machine->id.value,
                             work.state.cluster.name, slot.group, text_of(judgement.verdict)),
                 judgement.reason);
  work.look_at(slot);
}

// The budget of repairs holds for these too: until then the node waits, drained.
bool follow(Work& work, Slot& slot) {
  if (slot.check->verdict != CheckVerdict::Replace) return work.move(slot, Cause::kChecked);
  const Group& group = work.group_of(slot);
  if (under_repair(work, group.name) < budget(group.target_count, work.settings().repair))
    return begin_repair(work, slot, {RepairKind::Replace, false, true, slot.check->reason});
  work.look_at(slot, work.now() + kBudgetRound);
  return false;
}

bool wait_to_begin(Work& work, Slot& slot) {
  const bool heard = work.observed.agents.contains(slot.machine->id);
  if (heard && drained(work, slot)) {
    if (has_company(work, slot))
      order(work, slot);
    else
      work.look_at(slot, work.now() + kRound);
    return false;
  }
  const Time until = slot.check->asked_at + work.settings().check_busy;
  if (work.now() < until) {
    work.look_at(slot, until);
    return false;
  }
  const char* why = heard ? "its jobs have not ended in time" : "its agent is not heard";
  finish(work, slot, {CheckVerdict::NotChecked, why});
  return follow(work, slot);
}

}  // namespace

Result<void> on_user_checks(Work& work, const CheckHealth& request) {
  const std::string& cluster = work.state.cluster.name;
  if (work.ending() || !work.slots_in(SlotState::Checking).empty())
    return fail(ErrorCode::kConflict, "Cluster {} is {}: a deep health check cannot be started", cluster,
                work.ending() ? "ending" : "under a deep health check already");
  std::map<SlotId, Kinds> asked;
  for (const GroupCheck& group : request.groups) {
    const auto slots = slots_of(work, group);
    if (!slots) return tl::unexpected(slots.error());
    for (const SlotId& id : *slots) asked[id].insert(group.kinds.begin(), group.kinds.end());
  }
  if (asked.empty())
    return fail(ErrorCode::kInvalid, "no instance of these groups is Running: there is nothing to check");
  const auto connected = std::ranges::count_if(
      asked, [](const auto& item) { return item.second.contains(CheckKind::InstanceConnectivity); });
  if (std::cmp_greater(connected, kMostPeers))
    return fail(ErrorCode::kInvalid,
                "InstanceConnectivity is for at most {} instances at a time, these are {}: name them by InstanceIds",
                kMostPeers, connected);
  cluster_event(
      work, EventLevel::Info,
      fmt::format("Deep health check of {} instances in Cluster {} started successfully", asked.size(), cluster));
  for (const auto& [id, kinds] : asked) {
    Slot& slot = work.touch(*work.slot(id));
    slot.check.reset();
    add_kinds(slot, kinds);
    enter_check(work, slot);
  }
  return {};
}

bool on_check_done(Work& work, Slot& slot, const agent::CommandResult& result) {
  const auto sent = work.observed.checks_sent.find(slot.machine->id);
  if (sent == work.observed.checks_sent.end() || sent->second != result.id) return false;
  work.observed.checks_sent.erase(sent);
  if (slot.state != SlotState::Checking || !slot.check || slot.check->answered || slot.check->done) return true;
  DeepCheck& check = *work.touch(slot).check;
  check.answered = true;
  check.findings = result.findings;
  // A kind that nothing was said of was not checked.
  for (const CheckKind kind : check.kinds)
    if (std::ranges::find(check.findings, kind, &CheckFinding::kind) == check.findings.end())
      check.findings.push_back({kind, CheckVerdict::NotChecked, result.error, {}, {}});
  return true;
}

void prepare_check(Work& work, Slot& slot) {
  const bool again = slot.check && (!slot.check->done || slot.check->verdict == CheckVerdict::Replace);
  if (!again) slot.check.reset();
  const Kinds kinds = on_start(work.group_of(slot));
  if (again || !kinds.empty()) add_kinds(slot, kinds);
  work.touch(slot);
}

bool check_is_due(const Slot& slot) { return slot.check && !slot.check->done; }

bool is_to_be_kept_out(const Slot& slot) {
  return slot.check && slot.check->done && slot.check->verdict == CheckVerdict::Drain;
}

bool enter_check(Work& work, Slot& slot) {
  DeepCheck& check = *work.touch(slot).check;
  const auto kinds = check.kinds;
  check = DeepCheck();
  check.id = work.context.random->uuid();
  check.kinds = kinds;
  check.asked_at = work.now();
  return work.move(slot, Cause::kToCheck);
}

bool advance_check(Work& work, Slot& slot) {
  if (!slot.wanted) return work.move(slot, Cause::kUnwanted);
  if (!slot.check) return work.move(slot, Cause::kChecked);
  if (slot.check->done) return follow(work, slot);
  if (slot.check->answered) return false;
  if (!has_begun(*slot.check)) return wait_to_begin(work, slot);
  const Time end = end_of(work, *slot.check);
  const MachineId& machine = slot.machine->id;
  if (work.now() >= end) {
    work.touch(slot).check->answered = true;  // without a finding
    work.observed.checks_sent.erase(machine);
  } else if (!work.observed.checks_sent.contains(machine) && work.observed.agents.contains(machine)) {
    order(work, slot);  // it, or we, began anew
  } else {
    work.look_at(slot, end);
  }
  return false;
}

void judge_checks(Work& work) {
  std::map<std::string, std::vector<CheckFinding>> answers;
  bool others_come = false;
  for (const Slot* slot : work.slots_in(SlotState::Checking)) {
    if (!check_is_due(*slot) || !has_begun(*slot->check)) continue;
    if (slot->check->answered)
      answers[slot->node_name] = slot->check->findings;
    else
      others_come = others_come || is_connected(*slot->check);
  }
  if (answers.empty()) return;
  const bool waits = others_come && std::ranges::all_of(answers, [&](const auto& item) {
                       return is_connected(*work.slot_of_node(item.first)->check);
                     });
  if (waits) return;
  for (auto& [node, judgement] : judge(answers)) {
    Slot& slot = *work.slot_of_node(node);
    if (!others_come || !is_connected(*slot.check)) finish(work, slot, std::move(judgement));
  }
}

}  // namespace espalier::reconcile
