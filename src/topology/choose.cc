#include "topology/choose.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace espalier::topology {
namespace {

// What the types of some groups are, by class; each sorted and once.
struct Types {
  std::set<std::string> none, tree, block;

  void add(const std::string& name) {
    const auto what = class_of(name);
    (what == TopologyClass::block ? block : what == TopologyClass::tree ? tree : none).insert(name);
  }
  [[nodiscard]] bool capable() const { return !tree.empty() || !block.empty(); }
  [[nodiscard]] std::set<std::string> all_capable() const {
    auto out = tree;
    out.insert(block.begin(), block.end());
    return out;
  }
};

std::string list(const std::set<std::string>& types) { return fmt::format("{}", fmt::join(types, ", ")); }

// Blocks were wished for or suit; this version decides whether it can have them.
Choice blocks_or_tree(const slurm::Version& version, std::string because) {
  if (slurm::release_of(version).block) return {Model::block, std::move(because), {}};
  return {Model::tree, fmt::format("{}; but {} has no block topology: a tree serves", because, describe(version)), {}};
}

Choice cluster_default(const Types& types, const slurm::Version& version) {
  if (!types.capable()) return {Model::flat, "no instance type of this cluster has a known place in the network", {}};
  if (types.tree.empty() && types.none.empty())
    return blocks_or_tree(version, fmt::format("all machines are UltraServers ({})", list(types.block)));
  // One topology for all: blocks keep NVLink domains together and take the others into a block of their own.
  if (types.tree.empty() && !slurm::release_of(version).topology_yaml && slurm::release_of(version).block)
    return {Model::block,
            fmt::format("UltraServers ({}) and machines without a place in the network ({}), and {} has one topology "
                        "for the whole cluster",
                        list(types.block), list(types.none), describe(version)),
            {}};
  return {Model::tree, fmt::format("machines of {} have a known place in the network", list(types.all_capable())), {}};
}

PartitionChoice partition_choice(const Types& types, const Choice& whole, const slurm::Version& version) {
  if (!slurm::release_of(version).topology_yaml)
    return {std::nullopt, fmt::format("{} has one topology for the whole cluster", describe(version))};
  if (!types.none.empty() && types.capable())
    return {std::nullopt,
            fmt::format("{} have no place in the network: the cluster's default holds all", list(types.none))};
  if (!types.none.empty()) {
    if (whole.model == Model::flat) return {std::nullopt, "as the whole cluster"};
    return {Model::flat, fmt::format("{} have no place in the network", list(types.none))};
  }
  if (types.tree.empty()) return {Model::block, fmt::format("all are UltraServers ({})", list(types.block))};
  if (types.block.empty()) return {Model::tree, fmt::format("{} are known to the fabric", list(types.tree))};
  return {Model::tree, fmt::format("{} are known to the fabric, UltraServers ({}) hang in the tree too",
                                   list(types.tree), list(types.block))};
}

Choice as_wished(Preference preference, const slurm::Version& version) {
  if (preference == Preference::off) return {Model::flat, "the topology was set to off", {}};
  if (preference == Preference::tree) return {Model::tree, "the topology was set to tree", {}};
  return blocks_or_tree(version, "the topology was set to block");
}

}  // namespace

TopologyClass class_of(std::string_view instance_type) {
  const auto* type = find_instance_type(instance_type);
  return type == nullptr ? TopologyClass::none : type->topology;
}

Result<Preference> read_preference(std::string_view word) {
  if (word == "auto") return Preference::automatic;
  if (word == "tree") return Preference::tree;
  if (word == "block") return Preference::block;
  if (word == "off") return Preference::off;
  return fail(ErrorCode::kInvalid, "'{}' is no topology; choose auto, tree, block or off", word.substr(0, 40));
}

Choice choose(const std::vector<GroupTypes>& groups, const slurm::Version& version, Preference preference) {
  Types whole;
  std::map<std::string, Types> partitions;
  for (const auto& group : groups) {
    for (const auto& type : group.instance_types) {
      whole.add(type);
      if (!group.partition.empty()) partitions[group.partition].add(type);
    }
  }
  const bool by_rule = preference == Preference::automatic;
  Choice out = by_rule ? cluster_default(whole, version) : as_wished(preference, version);
  for (const auto& [name, types] : partitions)
    out.partitions[name] = by_rule ? partition_choice(types, out, version) : PartitionChoice{std::nullopt, out.because};
  return out;
}

}  // namespace espalier::topology
