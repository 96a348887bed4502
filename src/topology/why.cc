#include "topology/why.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "topology/fabric.h"

namespace espalier::topology {
namespace {

template <typename Units>
std::string unit_of(const Units& units, const std::string& node) {
  const auto found =
      std::ranges::find_if(units, [&](const auto& u) { return std::ranges::find(u.nodes, node) != u.nodes.end(); });
  return found == units.end() ? "" : found->name;
}

std::string why_on_leaf(const Member& member, const std::string& leaf) {
  if (leaf == kOffFabric)
    return fmt::format("on leaf {}, since {} has no known place in the network", leaf, member.instance_type);
  if (leaf == kUnplaced)
    return fmt::format(
        "on leaf {}, since {}", leaf,
        member.position ? "nobody has said where its machine hangs" : "it has no machine with a place yet");
  if (!is_located(member)) return fmt::format("on leaf {}", leaf);
  return fmt::format("on leaf {}, where its machine hangs ({})", leaf,
                     fmt::join(member.position->network_nodes, " / "));
}

std::string why_in_block(const Member& member, const std::string& block) {
  if (class_of(member.instance_type) != TopologyClass::block && block.starts_with(kOffFabric))
    return fmt::format("in block {}, since {} is no UltraServer", block, member.instance_type);
  const auto domain = member.position ? domain_of(*member.position) : std::string_view();
  if (domain.empty()) return fmt::format("in block {}, its seat until the NVLink domain of a machine is known", block);
  return fmt::format("in block {}, which the NVLink domain {} has", block, domain);
}

}  // namespace

std::vector<std::string> why_there(const ClusterPlan& plan, const Member& member) {
  std::vector<std::string> out;
  for (const auto& topology : plan.topologies) {
    if (const auto leaf = unit_of(topology.switches, member.node_name); !leaf.empty())
      out.push_back("tree: " + why_on_leaf(member, leaf));
    if (const auto block = unit_of(topology.blocks, member.node_name); !block.empty())
      out.push_back("block: " + why_in_block(member, block));
  }
  if (out.empty()) out.push_back(fmt::format("in no topology: {}", plan.choice.because));
  return out;
}

}  // namespace espalier::topology
