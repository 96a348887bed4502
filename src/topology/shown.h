// Topologies as Slurm has them, read from its files and from what scontrol prints. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/plan.h"

namespace espalier::topology {

struct Shown {
  std::string name;  // of topology.yaml; "" where there is but one
  bool cluster_default = false;
  Plan plan;                    // padding counts as nodes here; block_sizes may be empty: not told
  std::vector<int> lines = {};  // of each switch or block; the first line is 1. Not of scontrol's output
  std::size_t bytes = 0;        // of the whole text
};

// What `scontrol show topology` (below 25.05) or `scontrol show topoconf` prints. Nothing: flat.
Result<std::vector<Shown>> read_shown(std::string_view text);
// topology.conf or topology.yaml, told apart by what is in them.
Result<std::vector<Shown>> read_file_text(std::string_view text);

// What a plan holds for a comparison: units without nodes are nothing, a level that carries no choice neither, and
// padding is no node.
Plan normal(Plan plan, const std::vector<std::string>& padding = {});

}  // namespace espalier::topology
