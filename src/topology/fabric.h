// One tree out of many positions, whatever they say. Pure; the order of the members does not matter.
//
// Positions come from several sources at several times and contradict each other: the same switch under two parents, a
// switch that is leaf for one machine and inner for another, paths of different length, circles. Every switch takes the
// level, and then the parent above that level, that most machines name; when votes are equal, the deeper one, which
// knows more. A parent is always of a lower level, so there is no circle and the depth is bounded.
#pragma once

#include <string>
#include <vector>

#include "topology/plan.h"

namespace espalier::topology {

struct Branch {
  std::string name;
  std::vector<Branch> children;    // either children, in the natural order of their ids …
  std::vector<std::string> nodes;  // … or nodes, in natural order
};

// A path is taken as far as this from the leaf upwards. Slurm refuses trees deeper than 20.
inline constexpr std::size_t kMaxLevels = 12;

// True when the position says which switch the machine hangs on.
bool is_located(const Member& member);
// The branches below the common root for members that are all located. Levels with one child are left out.
std::vector<Branch> grow(const std::vector<const Member*>& located);

}  // namespace espalier::topology
