#include "cli/requests.h"

#include <algorithm>
#include <array>

#include "cli/nearest.h"

namespace espalier::cli {

namespace {

// Members that have the same name and form in ClusterInstanceGroupDetails and ClusterInstanceGroupSpecification.
constexpr std::array kCarried{
    "InstanceGroupName",       "InstanceType",    "LifeCycleConfig",       "ExecutionRole",   "ThreadsPerCore",
    "InstanceStorageConfigs",  "TrainingPlanArn", "OverrideVpcConfig",     "SlurmConfig",     "CapacityRequirements",
    "OnStartDeepHealthChecks", "AutoPatchConfig", "ScheduledUpdateConfig", "NetworkInterface"};

std::string name_of(const json::value& group) {
  const auto* object = group.if_object();
  const auto* name = object != nullptr ? object->if_contains("InstanceGroupName") : nullptr;
  return name != nullptr && name->is_string() ? std::string(std::string_view(name->get_string())) : "";
}

json::array groups_of(const json::object& cluster) {
  const auto* groups = cluster.if_contains("InstanceGroups");
  return groups != nullptr && groups->is_array() ? groups->get_array() : json::array{};
}

json::object slurm_config(const GroupOption& group) {
  json::object out{{"NodeType", std::string(enum_name(group.kind))}};
  if (group.kind == NodeType::Compute) out["PartitionNames"] = json::array{json::string(group.partition)};
  return out;
}

GroupOption base_group(NodeType kind, std::string name, std::string type) {
  GroupOption group;
  group.kind = kind;
  group.name = std::move(name);
  group.type = std::move(type);
  return group;
}

GroupOption compute_group(std::string name, std::string type, int count, std::string partition) {
  GroupOption group = base_group(NodeType::Compute, std::move(name), std::move(type));
  group.count = count;
  group.partition = std::move(partition);
  return group;
}

}  // namespace

const char* member_for(const std::string& node) {
  if (node.starts_with("i-")) return "NodeId";
  const bool is_uuid = node.size() == 36 && node[8] == '-' && node[13] == '-' && node[18] == '-' && node[23] == '-';
  return is_uuid ? "NodeLogicalId" : "NodeName";
}

std::vector<GroupOption> with_base_groups(std::vector<GroupOption> groups, const BaseGroups& base) {
  const auto lacks = [&groups](NodeType kind) {
    return std::none_of(groups.begin(), groups.end(), [kind](const auto& group) { return group.kind == kind; });
  };
  std::vector<GroupOption> out;
  if (lacks(NodeType::Controller)) out.push_back(base_group(NodeType::Controller, "controller", base.controller_type));
  if (base.login && lacks(NodeType::Login)) out.push_back(base_group(NodeType::Login, "login", base.login_type));
  std::move(groups.begin(), groups.end(), std::back_inserter(out));
  return out;
}

json::object group_spec(const GroupOption& group) {
  json::object out{{"InstanceGroupName", group.name},
                   {"InstanceType", group.type},
                   {"InstanceCount", group.count},
                   {"ExecutionRole", group.role},
                   {"SlurmConfig", slurm_config(group)}};
  if (group.min) out["MinInstanceCount"] = *group.min;
  if (group.threads) out["ThreadsPerCore"] = *group.threads;
  return out;
}

json::object create_request(const std::string& cluster, const std::vector<GroupOption>& groups) {
  json::array specs;
  for (const auto& group : groups) specs.push_back(group_spec(group));
  return {{"ClusterName", cluster},
          {"InstanceGroups", std::move(specs)},
          {"Orchestrator", json::object{{"Slurm", json::object{}}}},
          {"NodeProvisioningMode", "Continuous"}};
}

json::object example_request(const std::string& cluster) {
  return create_request(cluster, with_base_groups({compute_group("worker", "ml.p5.48xlarge", 8, "gpu"),
                                                   compute_group("cpu", "ml.c5.4xlarge", 2, "cpu")},
                                                  {}));
}

Result<json::object> find_group(const json::object& cluster, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& group : groups_of(cluster)) {
    if (name_of(group) == name) return group.get_object();
    names.push_back(name_of(group));
  }
  return fail(ErrorCode::kNotFound, "The cluster has no group '{}'.{}", name, suggestion(name, names));
}

json::object resized_spec(const json::object& details, int count) {
  json::object out;
  for (const char* member : kCarried)
    if (const auto* value = details.if_contains(member); value != nullptr && !value->is_null()) out[member] = *value;
  if (const auto* flexible = details.if_contains("InstanceRequirements"); flexible != nullptr && flexible->is_object())
    if (const auto* types = flexible->get_object().if_contains("DesiredInstanceTypes"))
      out["InstanceRequirements"] = json::object{{"InstanceTypes", *types}};
  out["InstanceCount"] = count;
  if (const auto* min = details.if_contains("MinCount"); min != nullptr && min->is_int64())
    out["MinInstanceCount"] = std::min<std::int64_t>(min->get_int64(), count);
  return out;
}

Result<json::array> resized_groups(const json::object& cluster, const std::vector<Resize>& sizes) {
  json::array out;
  for (const auto& size : sizes) {
    auto details = find_group(cluster, size.group);
    if (!details) return tl::unexpected(details.error());
    out.push_back(resized_spec(*details, size.count));
  }
  return out;
}

}  // namespace espalier::cli
