#include <algorithm>

#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/requests.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

std::string why(const wire::Node& node, Time now) {
  if (node.NextTry <= 0) return node.Message;
  const auto wait = std::max(Millis(0), from_epoch(node.NextTry) - now);
  return fmt::format("{} (failed tries: {}, next in {})", node.Message, node.Attempts, show_duration(wait));
}

Table table_of(const std::vector<wire::Node>& nodes, const std::string& group, Time now) {
  Table table({"NODE", "STATE", "SINCE", "SLURM", "TYPE", "INSTANCE", "ADDRESS", "LEAF", "DOMAIN", "WHY"});
  for (const auto& node : nodes) {
    if (!group.empty() && node.InstanceGroupName != group) continue;
    table.add({node.NodeName, state_cell(node.State), show_age(node.Since, now), state_cell(node.SlurmState),
               node.InstanceType, node.InstanceId, node.Address, node.Leaf, node.Domain, why(node, now)});
  }
  return table;
}

// A group without nodes must be there.
Result<void> check_group(Context& context, const std::string& cluster, const std::string& group,
                         const std::vector<wire::Node>& nodes) {
  const auto is_of_it = [&group](const wire::Node& node) { return node.InstanceGroupName == group; };
  if (group.empty() || std::any_of(nodes.begin(), nodes.end(), is_of_it)) return {};
  const auto described = context.service.on_cluster("SageMaker.DescribeCluster", cluster);
  if (!described) return tl::unexpected(described.error());
  if (const auto known = find_group(*described, group); !known) return tl::unexpected(known.error());
  return {};
}

}  // namespace

Result<void> show_nodes(Context& context, const std::string& cluster, const std::string& group) {
  const auto answer = context.service.on_cluster("Espalier.DescribeNodes", cluster);
  const auto list = read_answer<wire::NodeList>(answer);
  if (!list) return tl::unexpected(list.error());
  if (auto ok = check_group(context, cluster, group, list->Nodes); !ok) return ok;
  if (context.json)
    print_json(context, *answer);
  else
    print(context, table_of(list->Nodes, group, context.clock.now()));
  return {};
}

}  // namespace espalier::cli
