// `espalier topology status`, `explain` and `set` of a cluster of Espalier's.
#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/wire.h"
#include "slurm/hostlist.h"

namespace espalier::cli {

namespace {

std::string how(const wire::Topology& topology) {
  if (topology.Revision == 0) return "nothing has been applied yet";
  return fmt::format("revision {}, {}", topology.Revision,
                     topology.Applied == "Moves" ? "by moving nodes live" : "by a reconfigure");
}

std::string truth(const wire::Topology& topology, Context& context) {
  const Time now = context.clock.now();
  if (topology.True)
    return paint("slurmctld agrees", Colour::kGreen, context.terminal) +
           fmt::format("; nothing has changed for {}", show_age(topology.Since, now));
  const auto since = topology.PendingSince > 0 ? " for " + show_age(topology.PendingSince, now) : "";
  return paint("slurmctld does not have it yet", Colour::kYellow, context.terminal) + since;
}

std::string choice(const wire::Topology& topology) {
  return fmt::format("{} (set to {}): {}", topology.Model, topology.Wish, topology.Because);
}

void print_status(Context& context, const wire::Topology& topology) {
  print(context, "model:   " + choice(topology));
  print(context, "slurm:   " + topology.SlurmVersion);
  print(context, "applied: " + how(topology));
  print(context, "true:    " + truth(topology, context));
  for (const auto& line : topology.Pending) print(context, "pending: " + line);
  if (!topology.Failure.empty()) print(context, "failed:  " + paint(topology.Failure, Colour::kRed, context.terminal));
  for (const auto& line : topology.Notes) print(context, "note:    " + line);
  if (topology.Blocks.empty()) return;
  Table blocks({"BLOCK", "NVLINK DOMAIN", "NODES"});
  for (const auto& block : topology.Blocks) blocks.add({block.Name, block.Domain, slurm::compress(block.Nodes)});
  print(context, "");
  print(context, blocks);
}

void print_choice(Context& context, const wire::Topology& topology) {
  print(context, choice(topology));
  for (const auto& line : topology.Notes) print(context, line);
  if (topology.Partitions.empty()) return;
  Table partitions({"PARTITION", "TOPOLOGY", "BECAUSE"});
  for (const auto& each : topology.Partitions) partitions.add({each.Name, each.Model, each.Because});
  print(context, partitions);
}

Result<void> print_topology(Context& context, const std::string& cluster,
                            void (*as_text)(Context&, const wire::Topology&)) {
  const auto answer = context.service.on_cluster("Espalier.DescribeTopology", cluster);
  return show_answer<wire::Topology>(context, answer,
                                     [&](const wire::Topology& topology) { as_text(context, topology); });
}

}  // namespace

Result<void> show_topology_status(Context& context, const std::string& cluster) {
  return print_topology(context, cluster, print_status);
}

Result<void> explain_choice(Context& context, const std::string& cluster, const std::string& node) {
  if (node.empty()) return print_topology(context, cluster, print_choice);
  const auto answer = context.service.on_cluster("Espalier.ExplainNode", cluster, {{member_for(node), node}});
  const auto why = read_answer<wire::NodeExplanation>(answer);
  if (!why) return tl::unexpected(why.error());
  if (context.json)
    print_json(context, *answer);
  else
    for (const auto& place : why->Places) print(context, place);
  if (why->Places.empty())
    return fail(ErrorCode::kNotFound, "Node {} has no place in a topology: only compute nodes have", node);
  return {};
}

Result<void> set_topology(Context& context, const std::string& cluster, const std::string& wish) {
  const auto answer = context.service.on_cluster("Espalier.SetTopology", cluster, {{"Topology", wish}});
  if (!answer) return tl::unexpected(answer.error());
  if (context.json)
    print_json(context, *answer);
  else
    print(context, fmt::format("The topology of cluster '{}' is set to {}; `espalier topology status {}` says when "
                               "Slurm has it.",
                               cluster, wish, cluster));
  return {};
}

}  // namespace espalier::cli
