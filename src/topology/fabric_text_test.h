// For tests: a fabric as text, one line for nodes that hang alike:
//
//   p5-[1-4] ml.p5.48xlarge spine leaf-1     host list, instance type, network nodes root first
//   p5-[5-8] ml.p5.48xlarge -                "-": no position
//   g-[1-18] ml.p6e-gb200.36xlarge spine leaf-2 domain=nvl-1
//
// Lines that begin with "#" are comments.
#pragma once

#include <string_view>
#include <vector>

#include "topology/plan.h"

namespace espalier::topology {

Result<std::vector<Member>> read_fabric(std::string_view text);
// What slurmctld 24.11 prints for a plan that it has taken: `scontrol show topology`.
std::string shown_by_slurm(const Plan& plan);

}  // namespace espalier::topology
