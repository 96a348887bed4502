// Shared by the readers of paths that people write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/sources/source.h"

namespace espalier::topology {

inline constexpr std::size_t kMaxPath = 20;  // Slurm refuses trees deeper than that

// "core/spine/leaf"; empty parts are dropped.
std::vector<std::string> split_path(std::string_view path);
// Gives the position to every node of the list. `where` is for the reasons.
void put(std::string_view hostlist, const Position& position, const std::string& where, Located& out);

}  // namespace espalier::topology
