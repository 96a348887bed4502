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
  const auto topology = read_answer<wire::Topology>(answer);
  if (!topology) return tl::unexpected(topology.error());
  if (context.json) {
    print_json(context, *answer);
  } else if (file) {
    print_lines(context, topology->File);
  } else {
    print(context, headline(*topology, context.terminal));
    if (!topology->Failure.empty()) print(context, paint(topology->Failure, Colour::kRed, context.terminal));
    print_lines(context, topology->Drawing);
  }
  return {};
}

}  // namespace espalier::cli
