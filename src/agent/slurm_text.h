// Readers of what Slurm's commands print. Pure; lines that are not understood are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/protocol.h"

namespace espalier::agent {

inline constexpr const char* kNodeFormat = "%N|%T|%o|%E";  // of sinfo -h -N -o

// One view for each node, in the order of their first lines: sinfo -N prints a node once for each of its partitions.
std::vector<NodeView> parse_nodes(std::string_view sinfo);
// "name|state|address|reason" lines.
std::string node_lines(const std::vector<NodeView>& nodes);
// `scontrol -o show partitions` as lines "partition|hostlist"; a partition without nodes has an empty list.
std::string partition_lines(std::string_view scontrol);
// Whether `scontrol ping` says that a slurmctld answers.
bool says_up(std::string_view ping);
// From a daemon's log: its last error lines up to a fatal one, at most kMaxCauses, each once, joined by "; ". "" for
// none.
inline constexpr std::size_t kMaxCauses = 3;
std::string causes_in(std::string_view log);

}  // namespace espalier::agent
