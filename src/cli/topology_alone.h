// From the options of `espalier topology` to a plan; shared by its commands.
#pragma once

#include "cli/topology_actions.h"

namespace espalier::cli {

// What was known before, kept in a file between two runs. BOOST_DESCRIBE: its JSON.
struct TopologyState {
  topology::Positions positions;
  topology::Memory memory;
};
BOOST_DESCRIBE_STRUCT(TopologyState, (), (positions, memory))

struct Made {
  topology::ClusterPlan plan;
  topology::Located located;
  std::vector<std::string> left_out;
};

// Options that are wrong are kInvalid before anything is read.
Result<topology::AloneRequest> request_of(const AloneOptions& options);
Result<Made> make_plan(const AloneOptions& options, const ReadText& read);
SourcesOptions sources_of(const AloneOptions& options, const std::vector<std::string>& nodes);

// "core / leaf-1, domain nvl-1"
std::string describe(const Position& position);
// Reasons and notes, on standard error.
void tell(Context& context, const std::vector<std::string>& lines);

}  // namespace espalier::cli
