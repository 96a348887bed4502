#include "reconcile/group/group.h"

#include <algorithm>
#include <tuple>

#include "reconcile/events.h"
#include "reconcile/group/minimum.h"
#include "reconcile/slot/slot.h"
#include "reconcile/slurm/nodes.h"
#include "reconcile/update/software.h"

namespace espalier::reconcile {

namespace {

std::vector<Slot*> wanted_slots(Work& work, const Group& group) {
  std::vector<Slot*> slots;
  for (const auto& [number, id] : work.index().group(group.name).by_number)
    if (Slot* slot = work.slot(id); slot->wanted) slots.push_back(slot);
  return slots;
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

// Of a flexible group the types with the least priority go first; then the highest numbers.
void remove_slots(Work& work, const Group& group, std::vector<Slot*> slots, int count) {
  const auto types = types_of(group);
  std::ranges::sort(slots, {}, [&](const Slot* slot) {
    const auto priority = std::ranges::find(types, slot->instance_type) - types.begin();
    return std::tuple(pain(work, *slot), -priority, -slot->number);
  });
  for (Slot* slot : std::span(slots).first(static_cast<std::size_t>(count))) {
    work.touch(*slot).wanted = false;
    work.look_at(*slot);
  }
}

void note_scaling(Work& work, Group& group, bool scaling) {
  if (group.scaling == scaling) return;
  work.touch(group).scaling = scaling;
  if (scaling || group.deleting) return;
  scaling_event(work, group, EventLevel::Info,
                fmt::format("Instance Group {} Scaling in Cluster {} completed successfully", group.name,
                            work.state.cluster.name));
}

// Machines that were in use and are again soon: they were checked, or slurmctld had forgotten them.
int coming_back(Work& work, const Group& group) {
  return static_cast<int>(std::ranges::count_if(work.slots_in(SlotState::Joining), [&](const Slot* slot) {
    return slot->group == group.name && slot->wanted && was_in_use(*slot);
  }));
}

void drop_if_gone(Work& work, Group& group) {
  if (!group.deleting || !work.index().group(group.name).by_number.empty()) return;
  cluster_event(work, EventLevel::Info,
                fmt::format("Instance Group {} Deletion in Cluster {} completed successfully", group.name,
                            work.state.cluster.name));
  work.out.changes.groups.erase(group.name);
  work.out.changes.dropped_groups.insert(group.name);
}

GroupStatus status_of(const Work& work, const Group& group) {
  if (group.deleting || work.deleting()) return GroupStatus::Deleting;
  if (is_updating(group)) return GroupStatus::SystemUpdating;
  if (group.minimum) return group.created ? GroupStatus::Updating : GroupStatus::Creating;
  if (group.canary_at) return GroupStatus::Degraded;
  if (!group.created)
    return work.state.cluster.status == ClusterStatus::Failed ? GroupStatus::Failed : GroupStatus::Creating;
  return work.state.cluster.change ? GroupStatus::Updating : GroupStatus::InService;
}

// One machine at a time, at growing intervals: what is wrong may be mended elsewhere (a script, a role), and then one
// success is enough. It never stops.
void slow_down(Work& work, Group& group) {
  if (group.canary_at && *group.canary_at > work.now()) return;  // the answers of one round count once
  const bool first = !group.canary_at;
  ++work.touch(group).canaries;
  group.canary_at = work.now() + delay_after(work.settings().canary, *work.context.random, group.canaries);
  if (first)
    scaling_event(work, group, EventLevel::Warn,
                  fmt::format("Instance Group {} in Cluster {} is degraded: one instance is tried at a time until one "
                              "succeeds",
                              group.name, work.state.cluster.name),
                  group.failure_message);
}

void speed_up(Work& work, Group& group) {
  if (!group.canary_at) return;
  work.touch(group).canary_at.reset();
  group.canaries = 0;
  group.boot_failures = 0;
  scaling_event(work, group, EventLevel::Info,
                fmt::format("Instance Group {} in Cluster {} is no longer degraded: all its instances are tried",
                            group.name, work.state.cluster.name));
}

}  // namespace

std::vector<SlotId> add_slots(Work& work, const Group& group, int count) {
  const auto& taken = work.index().group(group.name).by_number;
  std::vector<int> free;
  for (int number = 1; static_cast<int>(free.size()) < count; ++number)
    if (!taken.contains(number)) free.push_back(number);
  std::vector<SlotId> added;
  for (const int number : free) {
    Slot slot;
    slot.id = SlotId(work.context.random->uuid());
    slot.group = group.name;
    slot.number = number;
    slot.node_name = fmt::format("{}-{}", group.name, number);
    slot.instance_type = group.instance_type;
    slot.since = slot.created_at = work.now();
    added.push_back(work.add(std::move(slot)).id);
  }
  return added;
}

void match_target(Work& work, Group& group) {
  const int target = group.deleting || work.deleting() ? 0 : group.target_count;
  const int have = work.index().group(group.name).wanted_count();
  if (have < target) add_slots(work, group, target - have);
  if (have > target) remove_slots(work, group, wanted_slots(work, group), have - target);
}

bool launches_now(const Work& work) {
  return std::ranges::any_of(work.out.effects,
                             [](const Effect& effect) { return std::holds_alternative<Launch>(effect); });
}

void settle_group(Work& work, Group& group) {
  const Index::OfGroup& slots = work.index().group(group.name);
  const int ready = slots.wanted_up();
  const bool all_there = std::ssize(slots.by_number) == group.target_count;
  const int missing = group.target_count - ready;
  const bool complete = all_there && (missing == 0 || (!group.scaling && missing == coming_back(work, group)));
  if (!work.deleting()) note_scaling(work, group, !complete);
  if (group.failure != FailureClass::None && ready == group.target_count) {
    work.touch(group).failure = FailureClass::None;
    group.failure_message.clear();
  }
  if (group.minimum) settle_minimum(work, group, ready);
  const ClusterStatus cluster = work.state.cluster.status;
  const bool in_service = cluster == ClusterStatus::InService || cluster == ClusterStatus::SystemUpdating;
  const bool usable = in_service && !group.minimum;
  if (!group.created && usable && !group.deleting) {
    work.touch(group).created = true;
    scaling_event(work, group, EventLevel::Info,
                  fmt::format("Instance Group {} Creation in Cluster {} completed successfully", group.name,
                              work.state.cluster.name));
  }
  if (const GroupStatus status = status_of(work, group); status != group.status) work.touch(group).status = status;
  drop_if_gone(work, group);
}

int demand_of(Work& work, const Group& group) {
  if (!work.observed.listed || work.deleting() || group.deleting) return 0;
  const Slot* controller = work.controller();
  const bool turn = group.type == NodeType::Controller || (controller && controller->state == SlotState::Ready);
  if (!turn) return 0;
  const Index::OfGroup& slots = work.index().group(group.name);
  const int waiting = static_cast<int>(slots.waiting.size());
  if (!group.canary_at || waiting == 0) return waiting;
  if (slots.under_way() > 0) return 0;  // the one that is tried
  if (*group.canary_at <= work.now()) return 1;
  work.wake_at(*group.canary_at);
  return 0;
}

// Slots of a flexible group that may be launched from one pool only, by pool; `most` at most.
std::map<std::string, int> bound_to_pools(Work& work, const Group& group, int most) {
  std::map<std::string, int> bound;
  if (group.instance_types.empty()) return bound;
  const Index::OfGroup& slots = work.index().group(group.name);
  for (const int number : slots.waiting) {
    const Slot& slot = *work.slot(slots.by_number.at(number));
    if (most > 0 && is_bound(slot)) --most, ++bound[slot.instance_type];
  }
  return bound;
}

// What a pool is asked for it must be able to use: a grant that is returned is granted again.
void ask_pools(Work& work, const Group& group) {
  int left = demand_of(work, group);  // for any pool
  auto bound = bound_to_pools(work, group, left);
  for (const auto& [pool, slots] : bound) left -= slots;
  for (const std::string& pool : types_of(group)) {
    const int count = left + bound[pool];
    Observed::Asked& asked = work.observed.asked[{group.name, pool}];
    if (asked.count != count || asked.returned > 0)
      work.effect(Demand{group.name, pool, count, asked.returned, group.type == NodeType::Controller});
    asked = {count, 0};
    // The next one is for what this one does not have.
    if (!work.observed.closed_pools.contains(pool)) left = 0;
  }
}

bool note_trouble(Work& work, Group& group, FailureClass kind, const std::string& why) {
  const bool of_one_machine = kind == FailureClass::BadMachine || kind == FailureClass::Bootstrap;
  const bool news = of_one_machine || group.failure != kind;
  if (group.failure != kind || group.failure_message != why) {
    work.touch(group).failure = kind;
    group.failure_message = why;
  }
  if (kind == FailureClass::WrongConfiguration) slow_down(work, group);
  return news;
}

void note_boot_failure(Work& work, Group& group) {
  if (++work.touch(group).boot_failures >= work.settings().breaker) slow_down(work, group);
}

void note_mended(Work& work, Group& group) {
  if (!group.canary_at || *group.canary_at <= work.now()) return;
  work.touch(group).canary_at = work.now();
  group.canaries = 0;
}

void note_launched(Work& work, Group& group) {
  if (group.failure == FailureClass::WrongConfiguration) speed_up(work, group);
}

void note_ready(Work& work, Group& group) {
  if (group.boot_failures > 0) work.touch(group).boot_failures = 0;
  speed_up(work, group);
}

Group make_group(const GroupWish& wish, const Context& context) {
  Group group;
  group.name = wish.name;
  group.type = wish.type;
  group.instance_types = wish.instance_types;
  group.instance_type = wish.instance_types.empty() ? wish.instance_type : wish.instance_types.front();
  if (!wish.partitions.empty()) group.partition = wish.partitions.front();
  group.target_count = wish.count;
  group.min_count = wish.min_count;
  group.image = wish.image;
  group.created_at = context.now;
  if (wish.min_count > 0) group.minimum = Minimum{context.now + context.settings->minimum_wait, 0, 0};
  group.scaling = wish.count > 0;
  group.spec = wish.spec;
  return group;
}

void change_group(Work& work, const GroupWish& wish) {
  const auto found = work.state.groups.find(wish.name);
  if (found == work.state.groups.end()) {
    Group& group = work.touch(work.state.groups[wish.name] = make_group(wish, work.context));
    scaling_event(work, group, EventLevel::Info,
                  fmt::format("InstanceGroup {} Creation started successfully in Cluster {}", group.name,
                              work.state.cluster.name));
    return;
  }
  Group& group = work.touch(found->second);
  // What was wrong may be mended with it: all are tried at once.
  group.canary_at.reset();
  group.canaries = group.boot_failures = 0;
  note_minimum(work, group, wish.min_count);
  const bool counts = group.target_count != wish.count || group.min_count != wish.min_count;
  group.target_count = wish.count;
  group.min_count = wish.min_count;
  if (!wish.partitions.empty()) group.partition = wish.partitions.front();
  work.places_changed();
  for (const auto& [key, value] : wish.spec) group.spec[key] = value;
  if (counts)
    scaling_event(work, group, EventLevel::Info,
                  fmt::format("InstanceGroup {} Scaling started successfully in Cluster {}", group.name,
                              work.state.cluster.name));
}

}  // namespace espalier::reconcile
