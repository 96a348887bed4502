// From positions to the topology that Slurm gets: choose → plan → render → check → read back. Pure.
//
// The rules are in docs/guide/topology.md. Invariants (property tests hold them): every member is on exactly one leaf;
// the names and order of what did not change stay; levels without a choice are collapsed; never an empty file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"

namespace espalier::topology {

inline constexpr const char* kUnplaced = "unplaced";     // leaf of the slots without a position yet
inline constexpr const char* kOffFabric = "off-fabric";  // leaf of types that have no position
inline constexpr const char* kRoot = "fabric";

// One compute slot.
struct Member {
  std::string node_name;
  std::string instance_type;
  std::optional<Position> position;  // absent: no machine yet, or not located
};

struct Switch {
  std::string name;
  std::vector<std::string> switches;  // either children …
  std::vector<std::string> nodes;     // … or nodes, natural order
  bool operator==(const Switch&) const = default;
};

enum class Model { flat, tree, block };
BOOST_DESCRIBE_ENUM(Model, flat, tree, block)

struct Plan {
  Model model = Model::flat;
  std::string because;           // why this model
  std::vector<Switch> switches;  // parents before children, the root first
};

// group_types: the instance types of all compute groups. A group of count 0 has no member, but its type counts when the
// model is chosen: scaling it up does not change the model under running jobs. Types of members count in any case.
Plan plan(const std::vector<Member>& members, const std::vector<std::string>& group_types = {});
// Node → its leaf.
std::map<std::string, std::string> leaves(const Plan& plan);
// topology.conf for Slurm 24.11; "" for flat.
std::string render(const Plan& plan);
// Slurm's TopologyPlugin for it: "topology/tree", "topology/default".
std::string plugin(const Plan& plan);
// What slurmctld 24.11 would refuse or lose in it; a plan of ours has none.
Result<void> check(const Plan& plan, const std::vector<Member>& members);

// `scontrol show topology` of 24.11 read back: leaf → host list is compared with the plan. The message of kConflict
// names the first differences. For flat an empty answer is right.
Result<void> compare(const Plan& plan, std::string_view shown);
// Node → leaf as slurmctld shows it.
Result<std::map<std::string, std::string>> read_leaves(std::string_view shown);

// The tree for people, drawn with lines, node ranges at the leaves.
std::string draw(const Plan& plan);

}  // namespace espalier::topology
