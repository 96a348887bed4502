// From positions to the topology that Slurm gets: choose → plan → render → check → read back. Pure.
//
// The rules are in docs/guide/topology.md. Invariants (property tests hold them): every member is exactly once in each
// topology that covers it; the names and order of what did not change stay; levels without a choice are collapsed;
// never an empty file; whatever the positions say, slurmctld takes what comes out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "slurm/version.h"
#include "topology/choose.h"

namespace espalier::topology {

inline constexpr const char* kUnplaced = "unplaced";     // leaf of the slots without a position yet
inline constexpr const char* kOffFabric = "off-fabric";  // leaf or block of types that have no position
inline constexpr const char* kRoot = "fabric";
inline constexpr int kNominalBlock = 18;  // nodes of an NVL72: the base size, however many of them are there

// One compute slot.
struct Member {
  std::string node_name;
  std::string instance_type;
  std::optional<Position> position;  // absent: no machine yet, or not located
  std::string group = {};            // with `number`: its seat, see blocks.h; empty for nodes that are not ours
  int number = 0;                    // 1 and up
};

struct Switch {
  std::string name;
  std::vector<std::string> switches;  // either children …
  std::vector<std::string> nodes;     // … or nodes, natural order
  bool operator==(const Switch&) const = default;
};

struct Block {
  std::string name;
  std::vector<std::string> nodes;    // natural order
  std::vector<std::string> padding;  // names that no machine ever has: they make a short block count as full
  bool operator==(const Block&) const = default;
};

// One topology.
struct Plan {
  Model model = Model::flat;
  std::string because;                // why this model
  std::vector<Switch> switches;       // of a tree; parents before children, the root first
  std::vector<Block> blocks = {};     // in an order that has a meaning: aggregates are windows of neighbours
  std::vector<int> block_sizes = {};  // the base size, then aggregates
};

// The tree over all members, or flat. group_types: the instance types of all compute groups. A group of count 0 has no
// member, but its type counts when the model is chosen. Types of members count in any case.
Plan plan(const std::vector<Member>& members, const std::vector<std::string>& group_types = {});
// The tree over all members, whatever their types. None: flat.
Plan plan_tree(const std::vector<Member>& members, std::string because);
// Node → its leaf, or its block.
std::map<std::string, std::string> leaves(const Plan& plan);
// topology.conf of that one topology; "" for flat.
std::string render(const Plan& plan, const slurm::Version& version = slurm::kOwnImage);
// Slurm's TopologyPlugin for it: "topology/tree", "topology/block", "topology/default" ("topology/flat" from 25.05).
std::string plugin(const Plan& plan, const slurm::Version& version = slurm::kOwnImage);
// What slurmctld would refuse or lose in it; a plan of ours has none.
Result<void> check(const Plan& plan, const std::vector<Member>& members,
                   const slurm::Version& version = slurm::kOwnImage);

// What slurmctld shows (shown.h) is compared with the plan. The message of kConflict names the first differences. For
// flat an empty answer is right.
Result<void> compare(const Plan& plan, std::string_view shown);
// Node → leaf or block as slurmctld shows it in its default topology.
Result<std::map<std::string, std::string>> read_leaves(std::string_view shown);

// For people, drawn with lines, node ranges at the leaves.
std::string draw(const Plan& plan);

}  // namespace espalier::topology
