#include <fmt/ranges.h>

#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

void print_facts(Context& context, const wire::Cluster& cluster) {
  Table facts({"CLUSTER", "STATUS", "CREATED", "NODE RECOVERY", "ARN"});
  facts.add({cluster.ClusterName, state_cell(cluster.ClusterStatus), show_date(from_epoch(cluster.CreationTime)),
             cluster.NodeRecovery, cluster.ClusterArn});
  print(context, facts);
  if (!cluster.FailureMessage.empty()) print(context, paint(cluster.FailureMessage, Colour::kRed, context.terminal));
}

void print_groups(Context& context, const wire::Cluster& cluster) {
  Table groups({"GROUP", "STATUS", "NODES", "MIN", "TYPE", "KIND", "PARTITION"});
  for (const auto& group : cluster.InstanceGroups)
    groups.add({group.InstanceGroupName, state_cell(group.Status),
                fmt::format("{}/{}", group.CurrentCount, group.TargetCount),
                group.MinCount > 0 ? std::to_string(group.MinCount) : "", group.InstanceType,
                group.SlurmConfig.NodeType, fmt::format("{}", fmt::join(group.SlurmConfig.PartitionNames, ","))});
  print(context, groups);
}

}  // namespace

Result<void> describe_cluster(Context& context, const std::string& name) {
  const auto answer = context.service.on_cluster("SageMaker.DescribeCluster", name);
  return show_answer<wire::Cluster>(context, answer, [&context](const wire::Cluster& cluster) {
    print_facts(context, cluster);
    print(context, "");
    print_groups(context, cluster);
  });
}

}  // namespace espalier::cli
