#include "api/wishes.h"

#include "api/read.h"

namespace espalier::api {
namespace {

// Without nulls, which mean absent: what is stored and echoed has only what was said.
json::value without_nulls(const json::value& value) {
  if (value.is_array()) {
    json::array out;
    for (const auto& item : value.get_array()) out.push_back(without_nulls(item));
    return out;
  }
  if (!value.is_object()) return value;
  json::object out;
  for (const auto& [name, item] : value.get_object())
    if (!item.is_null()) out[name] = without_nulls(item);
  return out;
}

reconcile::GroupWish group_wish(const json::object& spec) {
  reconcile::GroupWish wish;
  wish.name = text(spec, "InstanceGroupName");
  wish.instance_type = text(spec, "InstanceType");
  if (const auto* flexible = member(spec, "InstanceRequirements"))
    for (const auto& type : member(flexible->get_object(), "InstanceTypes")->get_array())
      wish.instance_types.emplace_back(std::string_view(type.get_string()));
  wish.count = static_cast<int>(number(spec, "InstanceCount"));
  wish.min_count = static_cast<int>(number(spec, "MinInstanceCount"));
  wish.image = text(spec, "ImageId") == "default" ? "" : text(spec, "ImageId");
  wish.spec = spec;
  if (const auto* slurm = member(spec, "SlurmConfig")) {
    wish.has_slurm_config = true;
    wish.type = enum_value<NodeType>(text(slurm->get_object(), "NodeType")).value_or(NodeType::Compute);
    if (const auto* names = member(slurm->get_object(), "PartitionNames"))
      for (const auto& name : names->get_array()) wish.partitions.emplace_back(std::string_view(name.get_string()));
  }
  return wish;
}

std::vector<reconcile::GroupWish> group_wishes(const json::object& input) {
  std::vector<reconcile::GroupWish> out;
  if (const auto* groups = member(input, "InstanceGroups"))
    for (const auto& group : groups->get_array()) out.push_back(group_wish(group.get_object()));
  return out;
}

}  // namespace

reconcile::ClusterWish cluster_wish(const Caller& caller, const json::object& input) {
  reconcile::ClusterWish wish;
  wish.spec = without_nulls(input).get_object();
  wish.groups = group_wishes(wish.spec);
  wish.name = text(input, "ClusterName");
  wish.account = caller.account;
  wish.region = caller.region;
  wish.node_recovery = text(input, "NodeRecovery", "Automatic");
  wish.continuous = member(input, "NodeProvisioningMode") != nullptr;
  wish.spec.erase("InstanceGroups");
  return wish;
}

reconcile::ClusterChange cluster_change(const json::object& input) {
  reconcile::ClusterChange change;
  const auto spec = without_nulls(input).get_object();
  change.groups = group_wishes(spec);
  if (const auto* names = member(spec, "InstanceGroupsToDelete"))
    for (const auto& name : names->get_array())
      change.groups_to_delete.emplace_back(std::string_view(name.get_string()));
  change.continuous = member(spec, "NodeProvisioningMode") != nullptr;
  if (member(spec, "NodeRecovery")) change.node_recovery = text(spec, "NodeRecovery");
  return change;
}

}  // namespace espalier::api
