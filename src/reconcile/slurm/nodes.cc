#include "reconcile/slurm/nodes.h"

#include <algorithm>
#include <array>

#include "reconcile/check/check.h"
#include "reconcile/repair/health.h"
#include "reconcile/repair/repair.h"
#include "reconcile/slurm/ranks.h"
#include "slurm/hostlist.h"

namespace espalier::reconcile {

namespace {

const agent::NodeView* view_of(const Work& work, const std::string& node) {
  const auto found = work.observed.slurm_nodes.find(node);
  return found == work.observed.slurm_nodes.end() ? nullptr : &found->second;
}

bool is_compute(const Work& work, const Slot& slot) {
  return work.state.groups.at(slot.group).type == NodeType::Compute;
}

// A slurmd has registered from this very machine. An address alone could be another's; the state alone too.
bool registered(const agent::NodeView& view, const Slot& slot) {
  return slot.machine && view.address == slot.machine->address && slurm::read_state(view.state).registered;
}

// Not an admin's: ours, or what slurmctld writes by itself when a machine fails.
bool has_own_reason(const agent::NodeView& view) {
  static constexpr std::array kOfSlurm = {"Not responding",
                                          "Node unexpectedly rebooted",
                                          "Kill task failed",
                                          "Prolog error",
                                          "Epilog error",
                                          "Duplicate jobid",
                                          "batch job complete failure",
                                          "Low RealMemory",
                                          "Low CPUs",
                                          "Low TmpDisk",
                                          "Low socket*core",
                                          "gres/"};
  return view.reason.empty() || view.reason.starts_with("espalier:") || is_order(view.reason) ||
         std::ranges::any_of(kOfSlurm, [&](const char* text) { return view.reason.starts_with(text); });
}

// Drained by us. Not for an order that has an end: what is joining or at work has no such drain any more.
bool has_own_drain(const agent::NodeView& view) {
  return slurm::read_state(view.state).draining && view.reason.starts_with("espalier:");
}

// The same for one that joins: an order, which it has behind it, may have overwritten the reason of our drain.
bool has_ended_drain(const agent::NodeView& view) {
  return has_own_drain(view) || (slurm::read_state(view.state).draining && is_order(view.reason));
}

// No new job starts on it.
bool closed(const slurm::NodeFacts& facts) { return facts.draining || facts.failing; }

// No address that another machine may get, and no job can land on it.
bool let_go(const agent::NodeView& view) {
  const slurm::NodeFacts facts = slurm::read_state(view.state);
  return view.address == kNoAddress && (facts.down || closed(facts));
}

// A deep health check has it still, or has found what an admin should see: its drain is not an admin's yet.
bool is_held(const Slot& slot, const agent::NodeView& view) {
  if (check_is_due(slot)) return true;
  if (is_to_be_kept_out(slot)) return has_own_reason(view);
  return slurm::read_state(view.state).draining && view.reason == kChecking;
}

// It may still have a node in Slurm that has not let its machine go.
bool is_leaving(const Slot& slot) {
  static constexpr std::array kLeaving = {SlotState::Terminating, SlotState::Backoff, SlotState::Wanted,
                                          SlotState::Launching, SlotState::Booting};
  return std::ranges::find(kLeaving, slot.state) != kLeaving.end();
}

// Its node was read after it began to leave: what it shows is not older than that.
bool looked_at(const Work& work, const Slot& slot) {
  const auto read = work.observed.looked_at.find(slot.node_name);
  return read != work.observed.looked_at.end() && read->second >= slot.since;
}

}  // namespace

void on_nodes_seen(Work& work, const std::vector<agent::NodeView>& nodes) {
  auto& all = work.observed.slurm_nodes;
  for (const agent::NodeView& view : nodes) {
    // Slurm has no more; whoever is in a controller may say so all the same.
    if (all.size() >= slurm::kNodeTable && !all.contains(view.name)) continue;
    auto& known = all[view.name];
    if (known == view && !is_order(view.reason)) continue;  // what could not be obeyed yet may be now
    known = view;
    Slot* slot = work.slot_of_node(view.name);
    if (!slot) continue;
    work.look_at(*slot);
    if (forgotten(work, *slot)) work.observed.suspects.insert(slot->id);
    obey_slurm(work, *slot, view);
    on_node_shown(work, *slot);
  }
}

void on_all_nodes_seen(Work& work, const std::vector<agent::NodeView>& nodes) {
  on_nodes_seen(work, nodes);
  auto& all = work.observed.slurm_nodes;
  if (all.size() == nodes.size()) return;
  std::unordered_set<std::string_view> seen;
  for (const agent::NodeView& view : nodes) seen.insert(view.name);
  std::erase_if(all, [&](const auto& item) { return !seen.contains(item.first); });
}

bool admitted(Work& work, Slot& slot) {
  const NodeType type = work.group_of(slot).type;
  if (type == NodeType::Login) return true;
  if (type == NodeType::Controller) return work.observed.slurm_read;
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (!view || !registered(*view, slot)) return false;
  work.set(slot, ConditionType::Registered, true, "its slurmd has registered");
  const slurm::NodeFacts facts = slurm::read_state(view->state);
  if (facts.down || facts.failing || has_ended_drain(*view) || is_held(slot, *view)) return false;
  work.set(slot, ConditionType::Placed, true, "in " + work.observed.places[slot.node_name]);
  work.set(slot, ConditionType::Schedulable, true, "it was given to jobs");
  return true;
}

bool placed(Work& work, const Slot& slot) {
  if (!is_compute(work, slot)) return true;
  const auto seen = work.observed.placed.find(slot.id);
  if (!work.observed.slurm_read || seen == work.observed.placed.end() || seen->second != slot.machine->id) return false;
  const auto shown = work.observed.places.find(slot.node_name);
  if (shown == work.observed.places.end() || !topology::is_unplaced(shown->second)) return true;
  // A position that stays unknown does not keep it out for ever.
  const Time enough = slot.machine->launched_at + work.settings().unplaced_after;
  if (work.now() >= enough) return true;
  work.look_at(slot, enough);
  return false;
}

bool may_be_checked(const Work& work, const Slot& slot) {
  const agent::NodeView* view = view_of(work, slot.node_name);
  return view && registered(*view, slot) && work.observed.placed.contains(slot.id);
}

bool drained(Work& work, const Slot& slot) {
  if (!is_compute(work, slot)) return true;
  if (!work.observed.slurm_read || work.observed.batch) return false;  // an answer under way may say otherwise
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (!view) return !work.observed.declared.contains(slot.node_name);  // what was not read is busy
  const slurm::NodeFacts facts = slurm::read_state(view->state);
  // Not by "fail" alone: sinfo shows a node so that has jobs on a part of it. Our own drain tells them apart.
  return !facts.busy && (facts.draining || facts.down);
}

bool is_busy(const Work& work, const Slot& slot) {
  const agent::NodeView* view = view_of(work, slot.node_name);
  return is_compute(work, slot) && (!view || slurm::read_state(view->state).busy);
}

bool released(Work& work, const Slot& slot) {
  if (!is_compute(work, slot) || !work.ready_controller()) return true;
  if (!work.observed.slurm_read) return false;
  const agent::NodeView* view = view_of(work, slot.node_name);
  return view ? let_go(*view) : !work.observed.declared.contains(slot.node_name);
}

bool forgotten(const Work& work, const Slot& slot) {
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (slot.state != SlotState::Ready || !is_compute(work, slot) || !view) return false;
  return !registered(*view, slot) || has_own_drain(*view) ||
         (slurm::read_state(view->state).down && view->reason.starts_with("espalier:"));
}

void call_again(Work& work, const Slot& slot) {
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (!is_compute(work, slot) || !view || registered(*view, slot)) return;
  const auto last = work.observed.called_again.find(slot.id);
  const Time since = last == work.observed.called_again.end() ? slot.since : std::max(last->second, slot.since);
  const Time due = since + work.settings().call_again_after;
  if (work.now() < due) return work.look_at(slot, due);
  work.observed.called_again[slot.id] = work.now();
  work.look_at(slot, work.now() + work.settings().call_again_after);
  agent::Command command;
  command.call_again = true;
  work.send(slot.machine->id, std::move(command));
}

std::string foreign_reason(const Work& work, const std::string& node) {
  const agent::NodeView* view = view_of(work, node);
  return view && !has_own_reason(*view) ? view->reason : "";
}

namespace {

// An answer can lack a node that slurmctld has: it is asked for again, once a second.
bool look_for(Work& work, const Slot& slot, Orders& orders) {
  const bool leaves = slot.state == SlotState::Draining || slot.state == SlotState::Terminating;
  if (!leaves || !work.observed.declared.contains(slot.node_name)) return false;
  Time& next = work.observed.unseen[slot.id];
  if (work.now() >= next) {
    orders.look.push_back(slot.node_name);
    next = work.now() + Millis(1000);
  }
  work.wake_at(next);
  return true;
}

bool release(const Work& work, const Slot& slot, const agent::NodeView& view, Orders& orders) {
  const bool here = !let_go(view);
  // An admin may have drained it since the last look: the reason must be one that was read after it began to leave.
  if (!looked_at(work, slot)) {
    if (here) orders.look.push_back(slot.node_name);
    return here;
  }
  // Our own drain ends with its cause; an admin's stays.
  const bool due = here || (slurm::read_state(view.state).draining && has_own_reason(view));
  if (due) orders.release.push_back(slot.node_name);
  return due;
}

bool drain(const Slot& slot, const slurm::NodeFacts& facts, Orders& orders) {
  if (facts.draining || facts.down) return false;
  (slot.wanted ? orders.replace : orders.drain).push_back(slot.node_name);
  return true;
}

bool check(const Slot& slot, const slurm::NodeFacts& facts, Orders& orders) {
  if (facts.draining || facts.down) return false;
  orders.check.push_back(slot.node_name);
  return true;
}

bool admit(Work& work, const Slot& slot, const agent::NodeView& view, Orders& orders) {
  if (!slot.wanted) return false;
  const slurm::NodeFacts facts = slurm::read_state(view.state);
  const bool own = has_own_reason(view);
  const bool out = own && is_to_be_kept_out(slot);
  const bool back = view.reason == kChecking && facts.draining && !is_to_be_kept_out(slot);
  const bool shut = facts.down || facts.failing || has_ended_drain(view);  // IDLE ends all of them
  const bool in =
      shut && own && registered(view, slot) && !is_held(slot, view) && placed(work, slot) && ranked(work, slot);
  if (out) orders.keep_out[slot.node_name] = fmt::format("{}{}", kKeptOut, slot.check->reason);
  if (back) orders.give_back.push_back(slot.node_name);
  if (in) orders.admit.push_back(slot.node_name);
  return out || back || in;
}

// False: the slot waits for nothing of slurmctld's, as things are.
bool order(Work& work, const Slot& slot, Orders& orders) {
  if (!is_compute(work, slot)) return false;
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (!view) return look_for(work, slot, orders);
  if (is_leaving(slot)) return release(work, slot, *view, orders);
  if (slot.state == SlotState::Draining) return drain(slot, slurm::read_state(view->state), orders);
  if (slot.state == SlotState::Checking) return check(slot, slurm::read_state(view->state), orders);
  return slot.state == SlotState::Joining && admit(work, slot, *view, orders);
}

}  // namespace

Orders orders_due(Work& work) {
  Orders orders;
  std::erase_if(work.observed.to_order, [&](const SlotId& id) {
    const Slot* slot = work.slot(id);
    return !slot || !order(work, *slot, orders);
  });
  for (const SlotId& id : work.observed.suspects)
    if (const Slot* slot = work.slot(id)) orders.look.push_back(slot->node_name);
  return orders;
}

std::vector<std::string> to_watch(Work& work) {
  std::vector<std::string> nodes;
  for (const SlotState state : {SlotState::Joining, SlotState::Checking, SlotState::Draining})
    for (const Slot* slot : work.slots_in(state))
      if (is_compute(work, *slot)) nodes.push_back(slot->node_name);
  return nodes;
}

}  // namespace espalier::reconcile
