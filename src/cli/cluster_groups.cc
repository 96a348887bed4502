#include "cli/waiting.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

// UpdateCluster would change a group that is there.
Result<void> check_new(const json::object& cluster, const std::string& name, const std::vector<GroupOption>& groups) {
  for (const auto& group : groups) {
    const auto details = find_group(cluster, group.name);
    if (!details) continue;
    const auto known = from_json<wire::Group>(json::value(*details));
    if (known && known->Status == "Deleting") continue;  // the control plane says when it can come again
    return fail(ErrorCode::kExists,
                "Cluster '{0}' has a group '{1}' already: `espalier cluster scale {0} {1}=N` resizes it", name,
                group.name);
  }
  return {};
}

Result<void> update(Context& context, const std::string& cluster, json::object change, const std::string& said,
                    const WaitOptions& wait) {
  const auto answer = context.service.on_cluster("SageMaker.UpdateCluster", cluster, std::move(change));
  if (!answer) return tl::unexpected(answer.error());
  return finish(context, *answer, said, cluster, Goal::kGrown, wait);
}

}  // namespace

Result<void> add_groups(Context& context, const std::string& cluster, const std::vector<GroupOption>& groups,
                        const WaitOptions& wait) {
  const auto now = context.service.on_cluster("SageMaker.DescribeCluster", cluster);
  if (!now) return tl::unexpected(now.error());
  if (auto ok = check_new(*now, cluster, groups); !ok) return ok;
  json::array specs;
  std::string names;
  for (const auto& group : groups) {
    specs.push_back(group_spec(group));
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", group.name);
  }
  return update(context, cluster, {{"InstanceGroups", std::move(specs)}},
                fmt::format("Cluster '{}' grows {}.", cluster, names), wait);
}

Result<void> delete_group(Context& context, const std::string& cluster, const std::string& group,
                          const WaitOptions& wait) {
  const auto now = context.service.on_cluster("SageMaker.DescribeCluster", cluster);
  if (!now) return tl::unexpected(now.error());
  if (const auto known = find_group(*now, group); !known) return tl::unexpected(known.error());
  return update(context, cluster, {{"InstanceGroupsToDelete", json::array{json::string(group)}}},
                fmt::format("Group '{}' of cluster '{}' is being deleted.", group, cluster), wait);
}

}  // namespace espalier::cli
