// Where a mix of jobs would land, by a simple model of Slurm's choice. Pure.
//
// One job after the other, none ends. Without a topology: the first idle nodes by name. A tree: the smallest switch
// that has room, in it the leaf that fits best, or the fullest ones. Blocks: the block that fits best; a job larger
// than a block takes the fewest neighbours that have room together. What Slurm does differs in details; the two sides
// of a comparison are placed by the same rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/plan.h"
#include "topology/score.h"

namespace espalier::topology {

// "16x2,8 4x10": sizes, each as often as said, in the order of submission; commas, blanks and lines part them, "#"
// begins a comment. kInvalid. At most 100,000 jobs.
Result<std::vector<std::size_t>> read_mix(std::string_view text);

struct Placement {
  std::vector<PlacedJob> jobs;
  std::vector<std::size_t> waiting;  // sizes of those that found no room
  std::vector<std::string> idle;
};
Placement place(const Plan& plan, const std::vector<std::string>& nodes, const std::vector<std::size_t>& mix);

}  // namespace espalier::topology
