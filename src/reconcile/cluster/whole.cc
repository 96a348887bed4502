#include "reconcile/cluster/whole.h"

#include <algorithm>

#include "reconcile/events.h"
#include "reconcile/group/group.h"

namespace espalier::reconcile {

namespace {

bool is_complete(Work& work) {
  return std::ranges::all_of(work.state.groups, [&](const auto& item) {
    const Group& group = item.second;
    const Index::OfGroup& slots = work.index().group(group.name);
    return !group.deleting && slots.wanted_up() == group.target_count &&
           std::ssize(slots.by_number) == group.target_count;
  });
}

// Why it cannot succeed any more; "" while it can.
std::string failure_of(Work& work, const WholeChange& change) {
  std::string last;
  for (const auto& [name, group] : work.state.groups) {
    if (group.failure == FailureClass::None) continue;
    last = fmt::format("{}: {}", name, group.failure_message);
    if (group.failure == FailureClass::WrongConfiguration || group.failure == FailureClass::Quota) return last;
  }
  if (work.now() < change.since + work.settings().whole_wait) return "";
  return last.empty() ? "not all instances became ready within the expected time" : last;
}

void roll_back(Work& work, const std::string& why) {
  Cluster& cluster = work.touch_cluster();
  cluster.change->rolling_back = true;
  cluster.status = ClusterStatus::RollingBack;
  cluster.failure_message = why;
  cluster_event(work, EventLevel::Error,
                fmt::format("Cluster {} {} failed", cluster.name, cluster.change->creation ? "Creation" : "Update"),
                why);
  for (auto& [name, group] : work.state.groups) {
    const auto before = std::ranges::find(cluster.change->before, name, &GroupCounts::group);
    if (before == cluster.change->before.end() && !cluster.change->creation) {
      work.touch(group).deleting = true;  // the update had made it
      match_target(work, group);
      continue;
    }
    const GroupCounts counts = before == cluster.change->before.end() ? GroupCounts{name, 0, 0} : *before;
    work.touch(group).target_count = counts.target_count;
    group.min_count = counts.min_count;
    group.minimum.reset();
    group.canary_at.reset();
    match_target(work, group);
  }
}

void end(Work& work, ClusterStatus status) {
  Cluster& cluster = work.touch_cluster();
  const bool creation = cluster.change->creation;
  const bool went_back = cluster.change->rolling_back;
  cluster.status = status;
  cluster.change.reset();
  if (!went_back)
    cluster_event(work, EventLevel::Info,
                  fmt::format("Cluster {} {} completed successfully", cluster.name, creation ? "Creation" : "Update"));
}

}  // namespace

Result<void> begin_whole(Work& work) {
  Cluster& cluster = work.state.cluster;
  if (cluster.change || cluster.status == ClusterStatus::Failed)
    return fail(ErrorCode::kConflict, "Cluster {} is {}: it takes one change at a time", cluster.name,
                enum_name(cluster.status));
  WholeChange change;
  change.since = work.now();
  for (const auto& [name, group] : work.state.groups)
    if (!group.deleting) change.before.push_back({name, group.target_count, group.min_count});
  work.touch_cluster().change = std::move(change);
  cluster.status = ClusterStatus::Updating;
  cluster.failure_message.clear();
  cluster_event(work, EventLevel::Info, fmt::format("Cluster {} Update started successfully", cluster.name));
  return {};
}

void settle_whole(Work& work) {
  const auto& change = work.state.cluster.change;
  if (!change) return;
  if (change->rolling_back) {
    if (change->creation ? work.state.slots.empty() : is_complete(work))
      end(work, change->creation ? ClusterStatus::Failed : ClusterStatus::InService);
    return;
  }
  if (is_complete(work)) return end(work, ClusterStatus::InService);
  if (const std::string why = failure_of(work, *change); !why.empty())
    return launches_now(work) ? work.wake_at(work.now()) : roll_back(work, why);
  work.wake_at(change->since + work.settings().whole_wait);
}

}  // namespace espalier::reconcile
