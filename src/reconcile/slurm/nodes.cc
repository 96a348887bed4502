#include "reconcile/slurm/nodes.h"

#include <algorithm>
#include <array>

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
  return view.reason.empty() || view.reason.starts_with("espalier:") ||
         std::ranges::any_of(kOfSlurm, [&](const char* text) { return view.reason.starts_with(text); });
}

// No address that another machine may get, and no job can land on it.
bool let_go(const agent::NodeView& view) {
  const slurm::NodeFacts facts = slurm::read_state(view.state);
  return view.address == kNoAddress && (facts.down || facts.draining);
}

template <typename Wanted>
std::vector<std::string> nodes_where(Work& work, Wanted wanted) {
  std::vector<std::string> nodes;
  for (auto& [id, slot] : work.state.slots) {
    if (!is_compute(work, slot)) continue;
    const agent::NodeView* view = view_of(work, slot.node_name);
    if (view && wanted(slot, *view)) nodes.push_back(slot.node_name);
  }
  return nodes;
}

}  // namespace

void on_nodes_seen(Work& work, const std::vector<agent::NodeView>& nodes) {
  for (const agent::NodeView& view : nodes) work.observed.slurm_nodes[view.name] = view;
}

bool admitted(Work& work, Slot& slot) {
  const NodeType type = work.group_of(slot).type;
  if (type == NodeType::Login) return true;
  if (type == NodeType::Controller) return work.observed.slurm_read;
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (!view || !registered(*view, slot)) return false;
  work.set(slot, ConditionType::Registered, true, "its slurmd has registered");
  const slurm::NodeFacts facts = slurm::read_state(view->state);
  if (facts.down) return false;
  work.set(slot, ConditionType::Placed, true, "on leaf " + work.observed.leaves[slot.node_name]);
  work.set(slot, ConditionType::Schedulable, true, "slurmctld shows it " + view->state);
  return true;
}

bool placed(Work& work, const Slot& slot) {
  if (!is_compute(work, slot)) return true;
  if (!work.observed.slurm_read) return false;
  const auto wanted = work.planned_leaves().find(slot.node_name);
  if (wanted == work.planned_leaves().end()) return true;  // flat: there are no places
  const auto shown = work.observed.leaves.find(slot.node_name);
  if (shown == work.observed.leaves.end() || wanted->second != shown->second) return false;
  if (shown->second != topology::kUnplaced) return true;
  // A position that stays unknown does not keep it out for ever.
  const Time enough = slot.machine->launched_at + work.settings().unplaced_after;
  if (work.now() >= enough) return true;
  work.wake_at(enough);
  return false;
}

bool drained(Work& work, const Slot& slot) {
  if (!is_compute(work, slot)) return true;
  if (!work.observed.slurm_read || work.observed.batch) return false;  // an answer under way may say otherwise
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (!view) return true;  // read back, and slurmctld does not know it
  const slurm::NodeFacts facts = slurm::read_state(view->state);
  return !facts.busy && (facts.draining || facts.down);
}

bool released(Work& work, const Slot& slot) {
  if (!is_compute(work, slot) || !work.ready_controller()) return true;
  if (!work.observed.slurm_read) return false;
  const agent::NodeView* view = view_of(work, slot.node_name);
  return !view || let_go(*view);
}

bool forgotten(const Work& work, const Slot& slot) {
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (slot.state != SlotState::Ready || !is_compute(work, slot) || !view) return false;
  return !registered(*view, slot) || (slurm::read_state(view->state).down && view->reason.starts_with("espalier:"));
}

bool must_look(const Work& work) {
  return std::ranges::any_of(work.state.slots, [&](const auto& item) {
    const Slot& slot = item.second;
    const agent::NodeView* view = view_of(work, slot.node_name);
    if (!view || !is_compute(work, slot)) return false;
    const bool leaves = slot.state == SlotState::Terminating || !slot.machine;
    return (leaves && !let_go(*view) && work.observed.nodes_read_at < slot.since) || forgotten(work, slot);
  });
}

void call_again(Work& work, const Slot& slot) {
  const agent::NodeView* view = view_of(work, slot.node_name);
  if (!is_compute(work, slot) || !view || registered(*view, slot)) return;
  const auto last = work.observed.called_again.find(slot.id);
  const Time since = last == work.observed.called_again.end() ? slot.since : std::max(last->second, slot.since);
  const Time due = since + work.settings().call_again_after;
  if (work.now() < due) return work.wake_at(due);
  work.observed.called_again[slot.id] = work.now();
  work.wake_in(work.settings().call_again_after);
  agent::Command command;
  command.call_again = true;
  work.send(slot.machine->id, std::move(command));
}

std::string foreign_reason(const Work& work, const std::string& node) {
  const agent::NodeView* view = view_of(work, node);
  return view && !has_own_reason(*view) ? view->reason : "";
}

std::vector<std::string> to_release(Work& work) {
  return nodes_where(work, [&](const Slot& slot, const agent::NodeView& view) {
    const bool leaving = slot.state == SlotState::Terminating;
    const bool without = !slot.machine;
    // An admin may have drained it since the last look: the reason must be one that was read after it began to leave.
    if (work.observed.nodes_read_at < slot.since) return false;
    // Our own drain ends with its cause; an admin's stays.
    return (leaving || without) && (!let_go(view) || (slurm::read_state(view.state).draining && has_own_reason(view)));
  });
}

std::vector<std::string> to_drain(Work& work) {
  return nodes_where(work, [&](const Slot& slot, const agent::NodeView& view) {
    const slurm::NodeFacts facts = slurm::read_state(view.state);
    return slot.state == SlotState::Draining && !facts.draining && !facts.down;
  });
}

std::vector<std::string> to_admit(Work& work) {
  return nodes_where(work, [&](Slot& slot, const agent::NodeView& view) {
    if (slot.state != SlotState::Joining || !slot.wanted || !registered(view, slot)) return false;
    if (!slurm::read_state(view.state).down || !has_own_reason(view)) return false;
    return placed(work, slot);
  });
}

std::vector<std::string> to_watch(const Work& work) {
  std::vector<std::string> nodes;
  for (const auto& [id, slot] : work.state.slots)
    if (is_compute(work, slot) && (slot.state == SlotState::Joining || slot.state == SlotState::Draining))
      nodes.push_back(slot.node_name);
  return nodes;
}

}  // namespace espalier::reconcile
