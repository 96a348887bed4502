#include "checks.h"

#include <algorithm>
#include <utility>

namespace espalier::sim {

namespace {

// All of it goes, by its user's wish: deleted, or made as a whole or not at all and rolled back. Said here once more,
// and not asked of the product, which is judged by it.
bool is_ending(const ClusterState& state) {
  const auto& change = state.cluster.change;
  return state.cluster.status == ClusterStatus::Deleting || (change && change->creation && change->rolling_back);
}

void change(ClusterState& state, const store::Commit& commit) {
  state.revision = commit.expected_revision + 1;
  if (commit.cluster_row) state.cluster = *commit.cluster_row;
  for (const std::string& name : commit.drop_groups) state.groups.erase(name);
  for (const Group& group : commit.put_groups) state.groups.insert_or_assign(group.name, group);
  for (const SlotId& id : commit.drop_slots) state.slots.erase(id);
  for (const Slot& slot : commit.put_slots) state.slots.insert_or_assign(slot.id, slot);
  if (commit.slurm) state.slurm = *commit.slurm;
}

// Of these there is one for each machine.
bool is_told_once(const std::string& text) {
  return text.find("successfully provisioned") != std::string::npos ||
         (text.starts_with("Instance Termination") && text.find("completed successfully") != std::string::npos);
}

}  // namespace

bool same_rows(const ClusterState& a, const ClusterState& b) {
  const auto text = [](const ClusterState& state) {
    std::string out = json::serialize(to_json(state.cluster)) + json::serialize(to_json(state.slurm));
    for (const auto& [name, group] : state.groups) out += json::serialize(to_json(group));
    for (const auto& [id, slot] : state.slots) out += json::serialize(to_json(slot));
    return out;
  };
  return text(a) == text(b);
}

const ClusterState* Checks::cluster(const ClusterId& id) const {
  const auto found = disk_.find(id);
  return found == disk_.end() ? nullptr : &found->second;
}

void Checks::committed(const store::Commit& commit) {
  if (on_commit) on_commit(commit);
  if (!checking_)
    return commit.remove_cluster ? void(disk_.erase(commit.cluster)) : change(disk_[commit.cluster], commit);
  look_at_events(commit);
  if (commit.remove_cluster) {
    for (const auto& [id, slot] : disk_[commit.cluster].slots)
      if (slot.machine && cloud_.alive(slot.machine->id))
        nature_.violated("cluster {} is forgotten while {} runs", commit.cluster.value, slot.machine->id.value);
    disk_.erase(commit.cluster);
    return;
  }
  ClusterState& state = disk_[commit.cluster];
  look_for_lost(state, commit);
  look_for_untold(state, commit);
  change(state, commit);
  look_at_slots(state);
}

void Checks::found(const std::vector<ClusterState>& states) {
  std::map<ClusterId, const ClusterState*> by_id;
  for (const ClusterState& state : states) by_id[state.cluster.id] = &state;
  for (const store::Commit& commit : std::exchange(in_doubt_, {})) {
    const auto there = by_id.find(commit.cluster);
    const bool is_there = commit.remove_cluster
                              ? there == by_id.end()
                              : there != by_id.end() && there->second->revision == commit.expected_revision + 1;
    if (is_there) committed(commit);
  }
  if (states.size() != disk_.size())
    nature_.violated("{} clusters are on disk, {} were stored", states.size(), disk_.size());
  for (const auto& [id, state] : disk_)
    if (const auto there = by_id.find(id); there == by_id.end() || !same_rows(*there->second, state))
      nature_.violated("cluster {} is on disk with other rows than were stored", state.cluster.name);
}

void Checks::look_at_events(const store::Commit& commit) {
  auto& all = events_[commit.cluster];
  for (const Event& event : commit.events) {
    if (event.sequence != std::ssize(all) + 1)
      nature_.violated("event {} of {} has the number {}", all.size() + 1, commit.cluster.value, event.sequence);
    if (!event_ids_.insert(event.id).second) nature_.violated("two events have the id {}", event.id);
    if (is_told_once(event.description) && !told_once_.insert(commit.cluster.value + event.description).second)
      nature_.violated("told twice: {}", event.description);
    nature_.log("event {} {}: {}{}", event.sequence, enum_name(event.level), event.description,
                event.level == EventLevel::Info ? "" : " " + json::serialize(event.metadata));
    all.push_back(event);
  }
}

void Checks::look_at_slots(const ClusterState& state) {
  std::map<std::string, int> wanted;
  std::set<std::string> names;
  std::set<MachineId> machines;
  for (const auto& [id, slot] : state.slots) {
    const auto group = state.groups.find(slot.group);
    if (group == state.groups.end()) {
      nature_.violated("{} is of no group", slot.node_name);
      continue;
    }
    if (slot.wanted) ++wanted[slot.group];
    if (!names.insert(slot.node_name).second) nature_.violated("two slots are named {}", slot.node_name);
    if (slot.machine && !machines.insert(slot.machine->id).second)
      nature_.violated("two slots have {}", slot.machine->id.value);
    if (slot.state == SlotState::Ready && group->second.type == NodeType::Controller)
      controller_was_up_.insert(state.cluster.id);
  }
  for (const auto& [name, count] : wanted)
    if (count > state.groups.at(name).target_count)
      nature_.violated("{} slots of {} are wanted, the target is {}", count, name, state.groups.at(name).target_count);
}

// A user's order or an admin's: it was told with the change.
bool was_ordered(const store::Commit& commit, const MachineId& machine) {
  const std::string told = fmt::format("Instance {} is to be ", machine.value);
  return std::ranges::any_of(commit.events, [&](const Event& event) {
    return event.level == EventLevel::Info && event.description.starts_with(told);
  });
}

// A machine that runs and is in use is given up only when its slot is not wanted, or by order.
void Checks::look_for_lost(const ClusterState& before, const store::Commit& commit) {
  for (const Slot& slot : commit.put_slots) {
    const auto old = before.slots.find(slot.id);
    if (old == before.slots.end() || old->second.state != slot.state || old->second.wanted != slot.wanted)
      nature_.log("{} is {}{}", slot.node_name, enum_name(slot.state), slot.wanted ? "" : ", no longer wanted");
    if (old == before.slots.end() || old->second.state != SlotState::Ready || !old->second.machine) continue;
    const bool given_up = slot.state == SlotState::Terminating || slot.state == SlotState::Backoff;
    const MachineId& machine = old->second.machine->id;
    if (given_up && slot.wanted && cloud_.alive(machine) && !was_ordered(commit, machine))
      nature_.violated("{} of {} runs and is Ready, and is given up", machine.value, slot.node_name);
  }
}

// What happens to a machine is told with it.
void Checks::look_for_untold(const ClusterState& before, const store::Commit& commit) {
  const auto must_tell = [&](const std::string& what, const MachineId& machine) {
    const std::string text = fmt::format("{} {} ", what, machine.value);
    if (std::ranges::none_of(commit.events, [&](const Event& event) { return event.description.starts_with(text); }))
      nature_.violated("nothing tells: {}", text);
  };
  for (const Slot& slot : commit.put_slots) {
    const auto old = before.slots.find(slot.id);
    const auto had = old == before.slots.end() ? std::nullopt : old->second.machine;
    const bool same = had && slot.machine && had->id == slot.machine->id;
    if (had && !same) must_tell("Instance Termination", had->id);
    if (slot.machine && !same) must_tell("EC2 Instance", slot.machine->id);
    if (!same || old->second.state == slot.state) continue;
    const bool rebooted =
        old->second.repair && old->second.repair->kind == RepairKind::Reboot && !old->second.repair->done;
    if (slot.state == SlotState::Ready) must_tell(rebooted ? "Instance Reboot" : "Instance Creation", had->id);
    if (old->second.state == SlotState::Ready && slot.wanted)
      must_tell("Instance", had->id);  // lost, or to be replaced
  }
  for (const SlotId& id : commit.drop_slots)
    if (const auto old = before.slots.find(id); old != before.slots.end() && old->second.machine)
      must_tell("Instance Termination", old->second.machine->id);
}

void Checks::launch_asked(const LaunchRequest& request) {
  if (!checking_) return;
  const bool again = !keys_asked_.insert(request.key).second;
  nature_.log("launch {} for {} is asked for{}", request.key, request.host_name, again ? " again" : "");
  const ClusterState* state = cluster(request.cluster);
  const auto slot = state == nullptr ? std::map<SlotId, Slot>::const_iterator() : state->slots.find(request.slot);
  if (state == nullptr || slot == state->slots.end())
    return nature_.violated("a launch for {}, which is not on disk", request.host_name);
  if (slot->second.launch_key != request.key)
    nature_.violated("a launch for {} with key {}; on disk is '{}'", request.host_name, request.key,
                     slot->second.launch_key);
  const bool wanted = slot->second.wanted && state->cluster.status != ClusterStatus::Deleting;
  if (!wanted && !again) nature_.violated("a launch for {}, which is no longer wanted", request.host_name);
  if (request.role != NodeType::Controller && !controller_was_up_.contains(request.cluster))
    nature_.violated("a launch for {} before the controller was up", request.host_name);
}

void Checks::terminate_asked(const MachineId& id) {
  if (!checking_) return;
  nature_.log("the end of {} is asked for", id.value);
  const Cloud::Made* made = cloud_.find(id);
  if (made == nullptr || made->ended) return;
  const ClusterState* state = cluster(made->provided.cluster);
  if (state == nullptr || is_ending(*state)) return;
  const auto slurm = slurms_.find(made->provided.cluster);
  if (slurm == slurms_.end()) return;
  const auto node = slurm->second.nodes().find(made->request.host_name);
  if (node == slurm->second.nodes().end()) return;
  if (node->second.jobs > 0 && node->second.address == made->provided.machine.address)
    nature_.violated("{} of {} is to be terminated while a job runs on it", id.value, node->first);
}

void Checks::look_at_slurm(const Slurm& slurm) {
  for (const std::string& node : slurm.hostages) nature_.violated("a waiting job may take the absent node {}", node);
  for (const auto& [node, leaves] : slurm.leaves())
    if (leaves.size() != 1) nature_.violated("{} is on {} leaves", node, leaves.size());
  if (slurm.leaves().empty()) return;
  for (const auto& [node, state] : slurm.nodes())
    if (!slurm.leaves().contains(node)) nature_.violated("{} is on no leaf", node);
}

}  // namespace espalier::sim
