#include "reconcile/group/minimum.h"

#include "reconcile/events.h"
#include "reconcile/group/group.h"

namespace espalier::reconcile {

void note_minimum(Work& work, Group& group, int minimum) {
  const int ready = work.index().group(group.name).wanted_up();
  if (minimum == group.min_count) return;
  if (ready >= minimum) {
    work.touch(group).minimum.reset();
    return;
  }
  // Where it goes back to is what it was when it was last in service, whatever was wished for meanwhile.
  Minimum wait = group.minimum.value_or(Minimum{{}, group.target_count, group.min_count});
  wait.until = work.now() + work.settings().minimum_wait;
  work.touch(group).minimum = wait;
}

void settle_minimum(Work& work, Group& group, int ready) {
  if (group.deleting || work.deleting()) return;
  if (ready >= group.min_count && work.state.cluster.status == ClusterStatus::InService) {
    work.touch(group).minimum.reset();
    scaling_event(work, group, EventLevel::Info,
                  fmt::format("Minimum capacity reached for Instance Group {} in Cluster {}", group.name,
                              work.state.cluster.name));
    return;
  }
  if (work.now() < group.minimum->until) return work.wake_at(group.minimum->until);
  if (launches_now(work)) return work.wake_at(work.now());
  const Minimum before = *group.minimum;
  work.touch(group).minimum.reset();
  scaling_event(
      work, group, EventLevel::Warn,
      fmt::format("Rollback initiated for Instance Group {} in Cluster {}: it had {} of at least {} instances "
                  "in time, its target goes back from {} to {}",
                  group.name, work.state.cluster.name, ready, group.min_count, group.target_count,
                  before.target_before),
      group.failure_message);
  group.target_count = before.target_before;
  group.min_count = before.min_before;
  match_target(work, group);
}

}  // namespace espalier::reconcile
