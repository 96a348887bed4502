#include "api/wishes.h"

#include "api/read.h"

namespace espalier::api {
namespace {

using Problems = std::vector<std::string>;

Result<void> result_of(const Problems& problems) {
  if (problems.empty()) return {};
  return fail(ErrorCode::kInvalid, "{}", fmt::join(problems, "; "));
}

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

reconcile::GroupWish group_wish(const json::object& spec, Problems& problems) {
  reconcile::GroupWish wish;
  wish.name = text(spec, "InstanceGroupName");
  wish.instance_type = text(spec, "InstanceType");
  wish.count = static_cast<int>(number(spec, "InstanceCount"));
  wish.min_count = static_cast<int>(number(spec, "MinInstanceCount"));
  wish.spec = spec;
  if (const auto* slurm = member(spec, "SlurmConfig")) {
    wish.has_slurm_config = true;
    wish.type = enum_value<NodeType>(text(slurm->get_object(), "NodeType")).value_or(NodeType::Compute);
    if (const auto* names = member(slurm->get_object(), "PartitionNames"))
      for (const auto& name : names->get_array()) wish.partitions.emplace_back(std::string_view(name.get_string()));
  }
  if (member(spec, "AutoPatchConfig"))
    problems.push_back(fmt::format("InstanceGroup '{}': AutoPatchConfig is not served yet; leave it out", wish.name));
  return wish;
}

std::vector<reconcile::GroupWish> group_wishes(const json::object& input, Problems& problems) {
  std::vector<reconcile::GroupWish> out;
  if (const auto* groups = member(input, "InstanceGroups"))
    for (const auto& group : groups->get_array()) out.push_back(group_wish(group.get_object(), problems));
  return out;
}

// The service's rule: exactly one of Eks and Slurm. Ours: Slurm, continuous.
void check_orchestrator(const json::object& orchestrator, Problems& problems) {
  const auto* slurm = member(orchestrator, "Slurm");
  const bool eks = member(orchestrator, "Eks");
  if (eks == (slurm != nullptr))
    return problems.push_back(R"(Orchestrator must have exactly one of Eks and Slurm: pass Orchestrator={"Slurm":{}})");
  if (eks) return problems.push_back(R"(Orchestrator.Eks is not served: pass Orchestrator={"Slurm":{}})");
  if (member(slurm->get_object(), "SlurmConfigStrategy"))
    problems.push_back(
        "Orchestrator.Slurm.SlurmConfigStrategy is not available with NodeProvisioningMode=Continuous, which always "
        "merges: leave it out");
  if (member(slurm->get_object(), "AccountingDatabase"))
    problems.push_back("Orchestrator.Slurm.AccountingDatabase is not served yet: leave it out");
}

}  // namespace

Result<reconcile::ClusterWish> cluster_wish(const Caller& caller, const json::object& input) {
  Problems problems;
  reconcile::ClusterWish wish;
  wish.spec = without_nulls(input).get_object();
  wish.groups = group_wishes(wish.spec, problems);
  if (!member(input, "NodeProvisioningMode"))
    problems.push_back("NodeProvisioningMode is missing: pass NodeProvisioningMode=Continuous, the only mode served");
  if (const auto* orchestrator = member(input, "Orchestrator"))
    check_orchestrator(orchestrator->get_object(), problems);
  else
    problems.push_back(R"(Orchestrator is missing: pass Orchestrator={"Slurm":{}})");
  if (auto ok = result_of(problems); !ok) return tl::unexpected(ok.error());
  wish.name = text(input, "ClusterName");
  wish.account = caller.account;
  wish.region = caller.region;
  wish.node_recovery = text(input, "NodeRecovery", "Automatic");
  wish.spec.erase("InstanceGroups");
  return wish;
}

Result<reconcile::ClusterChange> cluster_change(const json::object& input) {
  Problems problems;
  reconcile::ClusterChange change;
  const auto spec = without_nulls(input).get_object();
  change.groups = group_wishes(spec, problems);
  if (const auto* orchestrator = member(spec, "Orchestrator")) check_orchestrator(orchestrator->get_object(), problems);
  if (const auto* names = member(spec, "InstanceGroupsToDelete"))
    for (const auto& name : names->get_array())
      change.groups_to_delete.emplace_back(std::string_view(name.get_string()));
  if (member(spec, "NodeRecovery")) change.node_recovery = text(spec, "NodeRecovery");
  if (auto ok = result_of(problems); !ok) return tl::unexpected(ok.error());
  return change;
}

}  // namespace espalier::api
