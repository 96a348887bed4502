// What each release of Slurm can express, as data. Pure.
//
// Only releases marked `tried` were met for real; the others follow the changelogs. A version between two rows is the
// row below it; a version newer than all is the newest.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::slurm {

// 24.11.5; a patch of 0 when it was not said.
struct Version {
  int year = 0;
  int month = 0;
  int patch = 0;
  auto operator<=>(const Version&) const = default;
};

// Reads "24.11", "24.11.5", "slurm 24.11.5", "slurm-wlm 24.11.5", as the daemons' -V print it.
Result<Version> read_version(std::string_view text);
// "24.11", or "24.11.5" when the patch is known.
std::string to_string(const Version& version);

struct Release {
  Version from;
  bool tried = false;
  bool block = false;                // topology/block exists
  bool equal_blocks = false;         // … and wants all blocks of the same size
  bool short_blocks = false;         // … and takes blocks below the base size, and empty ones
  bool topology_yaml = false;        // several topologies, partitions choose; nodes move without a reconfigure
  bool empty_switches = false;       // a switch may have neither nodes nor switches
  bool switch_as_node_rank = false;  // TopologyParam=SwitchAsNodeRank
  bool block_as_node_rank = false;   // TopologyParam=BlockAsNodeRank
  const char* block_sizes_key = "";  // of topology.conf
  const char* no_topology_plugin = "topology/default";
};

// Oldest first.
const std::vector<Release>& releases();
const Release& release_of(const Version& version);
// "Slurm 24.05 (by rule, not tried)": for people who are told why.
std::string describe(const Version& version);

inline constexpr Version kOwnImage{24, 11, 5};  // what the local provider's machines have when nothing else is said

}  // namespace espalier::slurm
