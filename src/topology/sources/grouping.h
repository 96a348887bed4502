// Which things belong together, by what they share. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace espalier::topology {

// sets[i]: what thing i has. Things are of one group when they share at least half of what the smaller one has, or when
// others join them in this way. Returns the group of every thing, groups numbered from 0 by their first thing.
// A thing that has nothing is a group of its own.
std::vector<std::size_t> group_by_shared(const std::vector<std::set<std::size_t>>& sets);

}  // namespace espalier::topology
