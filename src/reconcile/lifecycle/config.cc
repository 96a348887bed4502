#include "reconcile/lifecycle/config.h"

#include <map>
#include <vector>

namespace espalier::reconcile {

namespace {

std::string text_in(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
}

json::object instance(const Slot& slot) {
  json::object labels;
  int layer = 0;
  for (const std::string& node : slot.machine->position.network_nodes)
    labels[fmt::format("network-node-layer-{}", ++layer)] = node;
  return {{"InstanceName", slot.node_name},
          {"InstanceId", slot.machine->id.value},
          {"AgentIpAddress", slot.machine->address},
          {"CustomerIpAddress", slot.machine->address},
          {"InstanceLabel", std::move(labels)}};
}

// By number, as people count.
std::map<std::string, std::map<int, const Slot*>> machines_by_group(const ClusterState& state, const Slot& reader) {
  const bool whole = state.slots.size() <= kWholeConfig || state.groups.at(reader.group).type == NodeType::Controller;
  std::map<std::string, std::map<int, const Slot*>> out;
  for (const auto& [id, slot] : state.slots) {
    const bool told = whole || id == reader.id || state.groups.at(slot.group).type != NodeType::Compute;
    if (slot.machine && told) out[slot.group][slot.number] = &slot;
  }
  return out;
}

}  // namespace

std::optional<Script> script_of(const Group& group) {
  const json::value* config = group.spec.if_contains("LifeCycleConfig");
  if (!config || !config->is_object()) return std::nullopt;
  Script script;
  script.uri = text_in(config->get_object(), "SourceS3Uri");
  script.name = text_in(config->get_object(), "OnCreate");
  if (script.name.empty()) {
    script.name = text_in(config->get_object(), "OnInitComplete");
    script.hook = agent::LifecycleHook::OnInitComplete;
  }
  if (script.uri.empty() || script.name.empty()) return std::nullopt;
  return script;
}

std::string resource_config(const ClusterState& state, const Slot& reader) {
  const auto machines = machines_by_group(state, reader);
  json::array groups;
  std::string controller;
  for (const auto& [name, group] : state.groups) {
    json::array instances;
    if (const auto found = machines.find(name); found != machines.end())
      for (const auto& [number, slot] : found->second) {
        instances.push_back(instance(*slot));
        if (group.type == NodeType::Controller) controller = slot->machine->address;
      }
    groups.push_back(
        json::object{{"Name", name}, {"InstanceType", group.instance_type}, {"Instances", std::move(instances)}});
  }
  const json::object config{
      {"ClusterConfig", {{"ClusterArn", arn_of(state.cluster)}, {"ClusterName", state.cluster.name}}},
      {"ClusterType", "Slurm"},
      {"SlurmConfig", {{"PrimaryControllerIp", controller}, {"SecondaryControllerIps", json::array()}}},
      {"InstanceGroups", std::move(groups)}};
  return pretty_json(config) + "\n";
}

std::string provisioning_parameters(const ClusterState& state) {
  json::object out{{"version", "1.0.0"}, {"workload_manager", "slurm"}};
  json::array workers;
  for (const auto& [name, group] : state.groups) {
    if (group.type == NodeType::Controller) out["controller_group"] = name;
    if (group.type == NodeType::Login) out["login_group"] = name;
    if (group.type == NodeType::Compute)
      workers.push_back(json::object{{"instance_group_name", name}, {"partition_name", group.partition}});
  }
  out["worker_groups"] = std::move(workers);
  return pretty_json(out) + "\n";
}

}  // namespace espalier::reconcile
