#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

std::string headline(const wire::Topology& topology, const Terminal& terminal) {
  const auto truth = topology.True ? paint("slurmctld agrees", Colour::kGreen, terminal)
                                   : paint("slurmctld does not have it yet", Colour::kYellow, terminal);
  return fmt::format("Topology: {} ({}); revision {}, {}", topology.Model, topology.Because, topology.Revision, truth);
}

void print_lines(Context& context, std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  print(context, text);
}

}  // namespace

Result<void> show_topology(Context& context, const std::string& cluster, bool file) {
  const auto answer = context.service.on_cluster("Espalier.DescribeTopology", cluster);
  return show_answer<wire::Topology>(context, answer, [&context, file](const wire::Topology& topology) {
    if (file) return print_lines(context, topology.File);
    print(context, headline(topology, context.terminal));
    if (!topology.Failure.empty()) print(context, paint(topology.Failure, Colour::kRed, context.terminal));
    print_lines(context, topology.Drawing);
  });
}

}  // namespace espalier::cli
