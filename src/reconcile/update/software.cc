#include "reconcile/update/software.h"

#include <algorithm>

#include "reconcile/events.h"
#include "reconcile/nodes.h"
#include "reconcile/slurm/nodes.h"

namespace espalier::reconcile {

namespace {

using enum SoftwareUpdateStatus;

int size_of(const std::optional<BatchSize>& size, int target) {
  if (!size) return std::max(1, target);
  return std::max(1, size->percent ? target * size->value / 100 : size->value);
}

std::vector<std::string> groups_of(const ClusterState& state, const UpdateSoftware& request) {
  if (!request.groups.empty()) return request.groups;
  std::vector<std::string> all;
  for (const auto& [name, group] : state.groups)
    if (!group.deleting) all.push_back(name);
  return all;
}

Result<void> check(const ClusterState& state, const std::vector<std::string>& groups) {
  const Cluster& cluster = state.cluster;
  if (cluster.status == ClusterStatus::Deleting || cluster.status == ClusterStatus::Failed || cluster.change)
    return fail(ErrorCode::kConflict, "Cluster {} is {}: its software cannot be updated now", cluster.name,
                enum_name(cluster.status));
  for (const std::string& name : groups) {
    const auto found = state.groups.find(name);
    if (found == state.groups.end() || found->second.deleting)
      return fail(ErrorCode::kInvalid, "Cluster {} has no InstanceGroup '{}'", cluster.name, name);
    if (is_updating(found->second))
      return fail(ErrorCode::kConflict, "InstanceGroup '{}' is being updated already", name);
    if (found->second.minimum)
      return fail(ErrorCode::kConflict, "InstanceGroup '{}' waits for its MinInstanceCount", name);
  }
  return {};
}

void begin(Work& work, Group& group, const UpdateSoftware& request) {
  SoftwareUpdate update;
  update.status = InProgress;
  update.image = request.image;
  update.image_before = group.image;
  if (const Slot* any = nullptr; group.image.empty())
    for (const auto& [number, id] : work.index().group(group.name).by_number)
      if (any = work.slot(id); any->machine && !any->machine->image.empty()) update.image_before = any->machine->image;
  update.batch_size = size_of(request.batch, group.target_count);
  update.rollback_batch_size =
      size_of(request.rollback_batch ? request.rollback_batch : request.batch, group.target_count);
  update.wait = request.wait;
  work.touch(group).image = update.image;
  group.update = update;
  group.canary_at.reset();
  group.canaries = group.boot_failures = 0;
  const std::string& cluster = work.state.cluster.name;
  scaling_event(work, group, EventLevel::Info,
                fmt::format("InstanceGroup {} in Cluster {} has been scheduled for UpdateClusterSoftware to latest.",
                            group.name, cluster));
  scaling_event(work, group, EventLevel::Info,
                fmt::format("UpdateClusterSoftware initiated for IG {} in Cluster {} using rolling strategy.",
                            group.name, cluster));
}

bool is_done(Work& work, const SlotId& id, const std::string& image) {
  const Slot* slot = work.slot(id);
  return !slot || !slot->wanted || (slot->state == SlotState::Ready && slot->machine && slot->machine->image == image);
}

// Those with another release, the idle ones first.
std::vector<Slot*> outdated(Work& work, const Group& group, const std::string& image) {
  std::vector<Slot*> slots;
  for (const auto& [number, id] : work.index().group(group.name).by_number) {
    Slot* slot = work.slot(id);
    if (slot->wanted && slot->machine && slot->machine->image != image && next(slot->state, Cause::kReplaced))
      slots.push_back(slot);
  }
  std::ranges::stable_sort(slots, {}, [&](const Slot* slot) { return is_busy(work, *slot); });
  return slots;
}

void roll_back(Work& work, Group& group) {
  SoftwareUpdate& update = *work.touch(group).update;
  scaling_event(work, group, EventLevel::Error,
                fmt::format("Failed to complete UpdateClusterSoftware for IG {} in Cluster {}", group.name,
                            work.state.cluster.name),
                group.failure_message);
  update.status = RollbackInProgress;
  group.image = update.image_before;
  update.batch.clear();
  update.next_at.reset();
  group.canary_at.reset();
  group.canaries = group.boot_failures = 0;
}

void end(Work& work, Group& group) {
  SoftwareUpdate& update = *work.touch(group).update;
  const bool rolled_back = update.status == RollbackInProgress;
  update.status = rolled_back ? RollbackComplete : Succeeded;
  scaling_event(
      work, group, EventLevel::Info,
      fmt::format("UpdateClusterSoftware {} for IG {} in Cluster {}.",
                  rolled_back ? "was rolled back" : "completed successfully", group.name, work.state.cluster.name));
}

void start_batch(Work& work, Group& group, const std::vector<Slot*>& slots, int size) {
  SoftwareUpdate& update = *work.touch(group).update;
  scaling_event(
      work, group, EventLevel::Info,
      fmt::format("Next update batch selected for IG {} in Cluster {}.", group.name, work.state.cluster.name));
  for (Slot* slot : slots) {
    if (std::ssize(update.batch) >= size) break;
    instance_event(
        work, *slot, EventLevel::Info,
        fmt::format("Root volume replacement started for Instance {} in IG {}.", slot->machine->id.value, group.name));
    if (replace_machine(work, *slot, "its software is updated")) update.batch.push_back(slot->id);
  }
}

}  // namespace

bool is_updating(const Group& group) {
  return group.update && (group.update->status == Pending || group.update->status == InProgress ||
                          group.update->status == RollbackInProgress);
}

Result<UserAnswer> on_update_software(Work& work, const UpdateSoftware& request) {
  const auto groups = groups_of(work.state, request);
  if (auto ok = check(work.state, groups); !ok) return tl::unexpected(ok.error());
  for (const std::string& name : groups) begin(work, work.state.groups.at(name), request);
  return {};
}

void settle_update(Work& work, Group& group) {
  if (!is_updating(group) || work.deleting() || group.deleting) return;
  if (group.update->status == InProgress && group.canary_at) return roll_back(work, group);
  const bool back = group.update->status == RollbackInProgress;
  const std::string image = back ? group.update->image_before : group.update->image;
  auto& batch = group.update->batch;
  if (!batch.empty()) {
    if (!std::ranges::all_of(batch, [&](const SlotId& id) { return is_done(work, id, image); })) return;
    work.touch(group);
    batch.clear();
    group.update->next_at = work.now() + group.update->wait;
  }
  const auto slots = outdated(work, group, image);
  if (slots.empty()) return end(work, group);
  if (group.update->next_at && *group.update->next_at > work.now()) return work.wake_at(*group.update->next_at);
  start_batch(work, group, slots, back ? group.update->rollback_batch_size : group.update->batch_size);
}

}  // namespace espalier::reconcile
