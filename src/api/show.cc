#include "api/show.h"

#include <algorithm>

#include "api/read.h"

namespace espalier::api {
namespace {

void echo(const json::object& from, std::initializer_list<const char*> names, json::object& to) {
  for (const auto* name : names)
    if (const auto* value = member(from, name)) to[name] = *value;
}

json::object slurm_config(const Group& group) {
  json::object config{{"NodeType", enum_name(group.type)}};
  if (!group.partition.empty()) config["PartitionNames"] = json::array{group.partition};
  return config;
}

using Counts = std::map<std::string, int>;  // by instance type or image

// A flexible group has a list of types instead of one.
void show_types(const Group& group, const Counts& current, json::object& out) {
  if (group.instance_types.empty()) {
    out["InstanceType"] = group.instance_type;
    return;
  }
  const auto types = to_json(group.instance_types);
  out["InstanceRequirements"] = {{"CurrentInstanceTypes", types}, {"DesiredInstanceTypes", types}};
  json::array details;
  for (const auto& type : group.instance_types) {
    const auto found = current.find(type);
    json::object one{{"InstanceType", type}, {"CurrentCount", found == current.end() ? 0 : found->second}};
    echo(group.spec, {"ThreadsPerCore"}, one);
    details.push_back(std::move(one));
  }
  out["InstanceTypeDetails"] = std::move(details);
}

bool is_under_way(const SoftwareUpdate& update) {
  return update.status == SoftwareUpdateStatus::Pending || update.status == SoftwareUpdateStatus::InProgress ||
         update.status == SoftwareUpdateStatus::RollbackInProgress;
}

json::object machines(int count) { return {{"Type", "INSTANCE_COUNT"}, {"Value", count}}; }

// Which release of the image its machines have, and how far an update of it is.
void show_software(const Group& group, const Counts& images, json::object& out) {
  const auto& update = group.update;
  const bool under_way = update && is_under_way(*update);
  std::string current = images.empty() ? "" : images.begin()->first;
  if (update) current = under_way ? update->image_before : group.image;
  const auto& desired = group.image.empty() ? current : group.image;
  if (!current.empty()) out["CurrentImageId"] = current;
  if (!desired.empty()) out["DesiredImageId"] = desired;
  if (!update) return;
  const auto there = images.find(desired);
  out["SoftwareUpdateStatus"] = enum_name(update->status);
  out["TargetStateCount"] = there == images.end() ? 0 : there->second;
  if (!under_way) return;
  out["ActiveSoftwareUpdateConfig"] = {
      {"RollingUpdatePolicy",
       {{"MaximumBatchSize", machines(update->batch_size)},
        {"RollbackMaximumBatchSize", machines(update->rollback_batch_size)}}},
      {"WaitIntervalInSeconds", std::chrono::duration_cast<std::chrono::seconds>(update->wait).count()}};
}

// What is known of releases: which one new machines get.
const char* version_status(bool newest) { return newest ? "UpToDate" : "UpdateAvailable"; }

bool all_have(const Counts& images, const std::string& image) {
  return std::ranges::all_of(images, [&](const auto& item) { return item.first == image; });
}

json::object group_details(const Group& group, const reconcile::Index::OfGroup& slots,
                           const std::string& newest_image) {
  json::object out{{"InstanceGroupName", group.name},   {"CurrentCount", slots.up},
                   {"TargetCount", group.target_count}, {"MinCount", group.min_count},
                   {"Status", enum_name(group.status)}, {"SlurmConfig", slurm_config(group)}};
  show_types(group, slots.up_types, out);
  show_software(group, slots.up_images, out);
  if (const Counts& images = slots.up_images; !images.empty() && !newest_image.empty())
    out["ImageVersionStatus"] = version_status(all_have(images, newest_image));
  echo(group.spec,
       {"LifeCycleConfig", "ExecutionRole", "ThreadsPerCore", "InstanceStorageConfigs", "OnStartDeepHealthChecks",
        "TrainingPlanArn", "OverrideVpcConfig", "ScheduledUpdateConfig", "CapacityRequirements", "NetworkInterface"},
       out);
  if (group.scaling) out["ActiveOperations"] = {{"Scaling", 1}};
  return out;
}

// "10.77.1.2" → "ip-10-77-1-2.us-west-2.compute.internal"
std::string dns_name(const Cluster& cluster, std::string address) {
  std::replace(address.begin(), address.end(), '.', '-');
  return fmt::format("ip-{}.{}.compute.internal", address, cluster.region);
}

json::object status_of(const Slot& slot) {
  json::object out{{"Status", enum_name(instance_status(slot))}};
  if (slot.state == SlotState::Draining)
    out["Message"] = slot.wanted ? "Draining: it gets another machine when its running jobs have ended."
                                 : "Draining: it is released when its running jobs have ended.";
  else if (!slot.failure_message.empty())
    out["Message"] = slot.failure_message;
  return out;
}

json::object ultra_server(const std::string& domain, const std::string& instance_type) {
  json::object out{{"Id", domain}};
  if (instance_type.starts_with("ml.p6e-gb200.")) out["Type"] = "ml.u-p6e-gb200x72";
  return out;
}

// What summary and details have in common.
json::object node(const Cluster& cluster, const Slot& slot, const std::string& newest_image) {
  const std::string& type = slot.instance_type;
  json::object out{{"InstanceGroupName", slot.group}, {"InstanceType", type}, {"InstanceStatus", status_of(slot)}};
  if (!slot.machine) return out;
  const auto& machine = *slot.machine;
  out["InstanceId"] = machine.id.value;
  out["LaunchTime"] = timestamp(machine.launched_at);
  if (!machine.image.empty()) {
    out["LastSoftwareUpdateTime"] = timestamp(machine.launched_at);  // a machine keeps what it came with
    if (!newest_image.empty()) out["ImageVersionStatus"] = version_status(machine.image == newest_image);
  }
  if (!machine.address.empty()) out["PrivateDnsHostname"] = dns_name(cluster, machine.address);
  if (!machine.position.domain.empty()) out["UltraServerInfo"] = ultra_server(machine.position.domain, type);
  return out;
}

}  // namespace

json::object cluster_summary(const Cluster& cluster) {
  return {{"ClusterArn", arn_of(cluster)},
          {"ClusterName", cluster.name},
          {"CreationTime", timestamp(cluster.created_at)},
          {"ClusterStatus", enum_name(cluster.status)}};
}

std::string image_version_status(const reconcile::Index& index, const std::string& newest_image) {
  if (newest_image.empty()) return "";
  bool any = false;
  for (const auto& [name, slots] : index.by_name()) {
    any = any || !slots.up_images.empty();
    if (!all_have(slots.up_images, newest_image)) return version_status(false);
  }
  return any ? version_status(true) : "";
}

json::object cluster_details(const ClusterState& state, const reconcile::Index& index,
                             const std::string& newest_image) {
  json::object out = cluster_summary(state.cluster);
  if (!state.cluster.failure_message.empty()) out["FailureMessage"] = state.cluster.failure_message;
  out["NodeRecovery"] = state.cluster.node_recovery;
  echo(state.cluster.spec, {"VpcConfig", "Orchestrator", "NodeProvisioningMode"}, out);
  std::vector<const Group*> groups;
  for (const auto& [name, group] : state.groups) groups.push_back(&group);
  std::stable_sort(groups.begin(), groups.end(), [](const Group* a, const Group* b) {
    return std::tie(a->created_at, a->type) < std::tie(b->created_at, b->type);
  });
  json::array shown;
  for (const auto* group : groups) shown.push_back(group_details(*group, index.group(group->name), newest_image));
  out["InstanceGroups"] = std::move(shown);
  return out;
}

json::object node_summary(const ClusterState& state, const Slot& slot, const std::string& newest_image,
                          bool with_logical_id) {
  json::object out = node(state.cluster, slot, newest_image);
  if (with_logical_id) out["NodeLogicalId"] = slot.id.value;
  return out;
}

json::object node_details(const ClusterState& state, const Slot& slot, const std::string& newest_image) {
  json::object out = node(state.cluster, slot, newest_image);
  out["NodeLogicalId"] = slot.id.value;
  out["CapacityType"] = "OnDemand";
  if (const auto group = state.groups.find(slot.group); group != state.groups.end())
    echo(group->second.spec,
         {"LifeCycleConfig", "OverrideVpcConfig", "ThreadsPerCore", "InstanceStorageConfigs", "NetworkInterface"}, out);
  if (!slot.machine) return out;
  if (!slot.machine->image.empty()) out["CurrentImageId"] = slot.machine->image;
  if (!slot.machine->address.empty()) out["PrivatePrimaryIp"] = slot.machine->address;
  if (!slot.machine->zone.empty()) out["Placement"] = {{"AvailabilityZone", slot.machine->zone}};
  return out;
}

json::object event_summary(const Cluster& cluster, const Event& event) {
  json::object out{{"EventId", event.id},
                   {"ClusterArn", arn_of(cluster)},
                   {"ClusterName", cluster.name},
                   {"ResourceType", enum_name(event.resource)},
                   {"EventTime", timestamp(event.time)},
                   {"Description", event.description},
                   {"EventLevel", enum_name(event.level)}};
  if (!event.group.empty()) out["InstanceGroupName"] = event.group;
  if (!event.instance.empty()) out["InstanceId"] = event.instance.value;
  return out;
}

json::object event_detail(const Cluster& cluster, const Event& event) {
  json::object out = event_summary(cluster, event);
  if (!event.metadata.empty()) out["EventDetails"] = {{"EventMetadata", event.metadata}};
  return out;
}

std::string failure_message_of(const Event& event) {
  for (const auto& [kind, metadata] : event.metadata)
    if (metadata.is_object()) return text(metadata.get_object(), "FailureMessage");
  return "";
}

}  // namespace espalier::api
