#include "reconcile/cluster/cluster.h"

#include <algorithm>

#include "reconcile/cluster/tags.h"
#include "reconcile/cluster/whole.h"
#include "reconcile/events.h"
#include "reconcile/group/group.h"
#include "reconcile/update/software.h"

namespace espalier::reconcile {

namespace {

// Usable: the controller is up, and a login machine if there is to be one. Workers do not count.
bool in_service(Work& work) {
  return std::ranges::all_of(work.state.groups, [&](const auto& item) {
    const Group& group = item.second;
    return group.type == NodeType::Compute || group.target_count == 0 || work.index().group(group.name).all_up() > 0;
  });
}

// "worker: 2 of 8 instances wait: <the last reason>", for every group that lacks something.
std::string failure_message(Work& work) {
  std::string text;
  for (const auto& [name, group] : work.state.groups) {
    const int waiting = group.target_count - work.index().group(name).wanted_up();
    if (group.failure_message.empty() || group.deleting || waiting <= 0) continue;
    text += fmt::format("{}{}: {} of {} instances wait: {}", text.empty() ? "" : " ", name, waiting, group.target_count,
                        group.failure_message);
  }
  return text;
}

// SystemUpdating as long as one of its groups is.
void settle_updating(Work& work) {
  const bool updating =
      std::ranges::any_of(work.state.groups, [](const auto& item) { return is_updating(item.second); });
  const ClusterStatus status = work.state.cluster.status;
  if (updating && status == ClusterStatus::InService) work.touch_cluster().status = ClusterStatus::SystemUpdating;
  if (!updating && status == ClusterStatus::SystemUpdating) work.touch_cluster().status = ClusterStatus::InService;
}

void end_deletion(Work& work) {
  if (!work.state.slots.empty() || !work.observed.strangers.empty() || work.observed.volumes_requested) return;
  work.observed.volumes_requested = true;
  work.effect(RemoveVolumes{});
}

void set_topology(Work& work, const std::string& wanted) {
  if (work.state.cluster.topology == wanted) return;
  work.touch_cluster().topology = wanted;
  work.places_changed();
  cluster_event(work, EventLevel::Info,
                fmt::format("The topology of Cluster {} was set to {}", work.state.cluster.name, wanted));
}

}  // namespace

ClusterState create(const ClusterWish& wish, const Context& context, std::vector<Event>& events) {
  ClusterState state;
  Cluster& cluster = state.cluster;
  cluster.id = ClusterId(context.random->letters_and_digits(12));
  cluster.name = wish.name;
  cluster.region = wish.region;
  cluster.account = wish.account;
  cluster.created_at = context.now;
  cluster.node_recovery = wish.node_recovery;
  cluster.continuous = wish.continuous;
  if (!wish.continuous) cluster.change = WholeChange{context.now, true, false, {}};
  cluster.munge_key = context.secret(96);
  cluster.spec = wish.spec;
  record(cluster, events, context, ResourceType::Cluster, EventLevel::Info,
         fmt::format("Cluster {} Creation started successfully", cluster.name))
      .metadata["Cluster"] = json::object();
  record(cluster, events, context, ResourceType::Cluster, EventLevel::Info, "Successfully created and stored munge key")
      .metadata["Cluster"] = json::object();
  for (const GroupWish& group : wish.groups) state.groups[group.name] = make_group(group, context);
  return state;
}

namespace {

// From all or nothing; there is no way back, on the wire neither.
Result<void> make_continuous(Work& work) {
  const Cluster& cluster = work.state.cluster;
  if (cluster.continuous) return {};
  if (cluster.change || cluster.status == ClusterStatus::Failed)
    return fail(ErrorCode::kConflict, "Cluster {} is {}: its NodeProvisioningMode can be changed when that has ended",
                cluster.name, enum_name(cluster.status));
  work.touch_cluster().continuous = true;
  work.state.cluster.spec["NodeProvisioningMode"] = "Continuous";
  cluster_event(work, EventLevel::Info,
                fmt::format("Cluster {} is provisioned continuously from now on", cluster.name));
  return {};
}

}  // namespace

Result<void> on_user_change(Work& work, const ClusterChange& change) {
  if (auto ok = check(change, work.state, work.settings().quotas, work.context.instances_elsewhere); !ok) return ok;
  auto tags = changed_tags(work.state.cluster.spec, change);
  if (!tags) return tl::unexpected(tags.error());
  if (auto& spec = work.state.cluster.spec; *tags != tags_of(spec)) work.touch_cluster().spec["Tags"] = to_wire(*tags);
  if (change.topology) set_topology(work, *change.topology);
  if (change.continuous)
    if (auto ok = make_continuous(work); !ok) return ok;
  const bool counts = !change.groups.empty() || !change.groups_to_delete.empty();
  if (!work.state.cluster.continuous && counts)
    if (auto ok = begin_whole(work); !ok) return ok;
  if (change.node_recovery) work.touch_cluster().node_recovery = *change.node_recovery;
  for (const GroupWish& wish : change.groups) change_group(work, wish);
  for (const std::string& name : change.groups_to_delete) {
    Group& group = work.touch(work.state.groups.at(name));
    group.deleting = true;
    group.status = GroupStatus::Deleting;
    scaling_event(
        work, group, EventLevel::Info,
        fmt::format("InstanceGroup {} Deletion started successfully in Cluster {}", name, work.state.cluster.name));
  }
  return {};
}

Result<void> on_user_delete(Work& work) {
  if (work.deleting()) return {};  // asked for twice
  work.touch_cluster().change.reset();
  work.touch_cluster().status = ClusterStatus::Deleting;
  for (auto& [name, group] : work.state.groups) work.touch(group).status = GroupStatus::Deleting;
  for (const auto& [id, slot] : work.state.slots) work.look_at(slot);
  cluster_event(work, EventLevel::Info,
                fmt::format("Cluster {} Deletion started successfully", work.state.cluster.name));
  return {};
}

void on_volumes_removed(Work& work, const Result<void>& result) {
  if (result) {
    work.out.changes.removed = true;
    return;
  }
  const bool news = !work.observed.volumes_retry;
  work.observed.volumes_requested = false;
  work.observed.volumes_retry = work.now() + Millis(5000);
  if (news)
    cluster_event(work, EventLevel::Error, "The cluster's volumes could not be removed: tried again every 5 s",
                  result.error().message);
}

void settle_cluster(Work& work) {
  if (work.deleting()) {
    if (work.observed.volumes_retry && *work.observed.volumes_retry > work.now())
      return work.wake_at(*work.observed.volumes_retry);
    return end_deletion(work);
  }
  settle_whole(work);
  settle_updating(work);
  if (!work.state.cluster.change && work.state.cluster.status == ClusterStatus::Creating && in_service(work)) {
    work.touch_cluster().status = ClusterStatus::InService;
    cluster_event(work, EventLevel::Info,
                  fmt::format("Cluster {} Creation completed successfully", work.state.cluster.name));
  }
}

void explain_cluster(Work& work) {
  const ClusterStatus status = work.state.cluster.status;
  if (work.deleting() || status == ClusterStatus::RollingBack || status == ClusterStatus::Failed) return;
  if (std::string text = failure_message(work); text != work.state.cluster.failure_message)
    work.touch_cluster().failure_message = std::move(text);
}

}  // namespace espalier::reconcile
