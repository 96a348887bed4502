#include "reconcile/group/group.h"

#include <algorithm>

#include "reconcile/events.h"
#include "reconcile/slurm/nodes.h"

namespace espalier::reconcile {

namespace {

std::vector<Slot*> wanted_slots(ClusterState& state, const Group& group) {
  std::vector<Slot*> slots;
  for (auto& [id, slot] : state.slots)
    if (slot.group == group.name && slot.wanted) slots.push_back(&slot);
  return slots;
}

int lowest_free_number(const std::set<int>& taken) {
  int number = 1;
  for (const int n : taken) {
    if (n != number) break;
    ++number;
  }
  return number;
}

void add_slots(Work& work, Group& group, int count) {
  work.places_changed();
  std::set<int> taken;
  for (const auto& [id, slot] : work.state.slots)
    if (slot.group == group.name) taken.insert(slot.number);
  for (int i = 0; i < count; ++i) {
    Slot slot;
    slot.id = SlotId(work.context.random->uuid());
    slot.group = group.name;
    slot.number = lowest_free_number(taken);
    slot.node_name = fmt::format("{}-{}", group.name, slot.number);
    slot.since = slot.created_at = work.now();
    taken.insert(slot.number);
    work.touch(work.state.slots[slot.id] = slot);
  }
}

// How much it hurts to lose it: no machine, not ready, out of use, idle, busy.
int pain(const Work& work, const Slot& slot) {
  if (!slot.machine) return slot.state == SlotState::Launching ? 1 : 0;
  if (slot.state != SlotState::Ready) return 2;
  const auto view = work.observed.slurm_nodes.find(slot.node_name);
  if (view == work.observed.slurm_nodes.end()) return 5;  // unknown is busy
  const slurm::NodeFacts facts = slurm::read_state(view->second.state);
  if (facts.busy) return 5;
  return facts.down || facts.draining ? 3 : 4;
}

void remove_slots(Work& work, std::vector<Slot*> slots, int count) {
  std::ranges::sort(slots, [&](const Slot* a, const Slot* b) {
    return std::pair(pain(work, *a), -a->number) < std::pair(pain(work, *b), -b->number);
  });
  for (Slot* slot : std::span(slots).first(static_cast<std::size_t>(count))) work.touch(*slot).wanted = false;
}

bool is_empty(const ClusterState& state, const Group& group) {
  return std::ranges::none_of(state.slots, [&](const auto& item) { return item.second.group == group.name; });
}

void note_scaling(Work& work, Group& group, bool scaling) {
  if (group.scaling == scaling) return;
  work.touch(group).scaling = scaling;
  if (scaling || group.deleting) return;
  scaling_event(work, group, EventLevel::Info,
                fmt::format("Instance Group {} Scaling in Cluster {} completed successfully", group.name,
                            work.state.cluster.name));
}

void drop_if_gone(Work& work, Group& group) {
  if (!group.deleting || !is_empty(work.state, group)) return;
  cluster_event(work, EventLevel::Info,
                fmt::format("Instance Group {} Deletion in Cluster {} completed successfully", group.name,
                            work.state.cluster.name));
  work.out.changes.groups.erase(group.name);
  work.out.changes.dropped_groups.insert(group.name);
}

}  // namespace

int ready_count(const ClusterState& state, const Group& group) {
  return static_cast<int>(std::ranges::count_if(state.slots, [&](const auto& item) {
    return item.second.group == group.name && item.second.state == SlotState::Ready;
  }));
}

void match_target(Work& work, Group& group) {
  auto slots = wanted_slots(work.state, group);
  const int target = group.deleting || work.deleting() ? 0 : group.target_count;
  const int have = static_cast<int>(slots.size());
  if (have < target) add_slots(work, group, target - have);
  if (have > target) remove_slots(work, std::move(slots), have - target);
}

void settle_group(Work& work, Group& group) {
  int all = 0;
  int ready = 0;
  for (const auto& [id, slot] : work.state.slots) {
    if (slot.group != group.name) continue;
    ++all;
    if (slot.wanted && slot.state == SlotState::Ready) ++ready;
  }
  if (!work.deleting()) note_scaling(work, group, ready != group.target_count || all != group.target_count);
  const bool usable = work.state.cluster.status == ClusterStatus::InService && ready >= group.min_count;
  if (group.status == GroupStatus::Creating && usable) {
    work.touch(group).status = GroupStatus::InService;
    scaling_event(work, group, EventLevel::Info,
                  fmt::format("Instance Group {} Creation in Cluster {} completed successfully", group.name,
                              work.state.cluster.name));
  }
  drop_if_gone(work, group);
}

Group make_group(const GroupWish& wish, Time now) {
  Group group;
  group.name = wish.name;
  group.type = wish.type;
  group.instance_type = wish.instance_type;
  if (!wish.partitions.empty()) group.partition = wish.partitions.front();
  group.target_count = wish.count;
  group.min_count = wish.min_count;
  group.created_at = now;
  group.scaling = wish.count > 0;
  group.spec = wish.spec;
  return group;
}

void change_group(Work& work, const GroupWish& wish) {
  const auto found = work.state.groups.find(wish.name);
  if (found == work.state.groups.end()) {
    Group& group = work.touch(work.state.groups[wish.name] = make_group(wish, work.now()));
    scaling_event(work, group, EventLevel::Info,
                  fmt::format("InstanceGroup {} Creation started successfully in Cluster {}", group.name,
                              work.state.cluster.name));
    return;
  }
  Group& group = work.touch(found->second);
  const bool counts = group.target_count != wish.count || group.min_count != wish.min_count;
  group.target_count = wish.count;
  group.min_count = wish.min_count;
  if (!wish.partitions.empty()) group.partition = wish.partitions.front();
  for (const auto& [key, value] : wish.spec) group.spec[key] = value;
  if (counts)
    scaling_event(work, group, EventLevel::Info,
                  fmt::format("InstanceGroup {} Scaling started successfully in Cluster {}", group.name,
                              work.state.cluster.name));
}

}  // namespace espalier::reconcile
