#include "topology/sources/alone.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "slurm/hostlist.h"
#include "topology/shown.h"
#include "topology/sources/paths.h"

namespace espalier::topology {
namespace {

std::vector<std::string> names_of(const AloneRequest& request) {
  auto names = request.nodes;
  if (names.empty())
    for (const auto* known : {&request.positions, &request.kept})
      for (const auto& [node, position] : *known) names.push_back(node);
  std::ranges::sort(names, slurm::natural_less);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

// Levels of a kept file that carry no choice any more are dropped, as the plan does: read from the file that comes out,
// the paths are the same again, and so is the order.
void drop_single_levels(std::vector<Member*>& kept) {
  std::map<std::string, std::set<std::string>> children;
  for (const auto* member : kept) {
    const auto& path = member->position->network_nodes;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) children[path[i]].insert(path[i + 1]);
  }
  for (auto* member : kept)
    std::erase_if(member->position->network_nodes, [&](const auto& id) {
      const auto found = children.find(id);
      return found != children.end() && found->second.size() == 1;
    });
}

std::vector<Member> members_of(const AloneRequest& request) {
  std::vector<Member> out;
  for (auto& name : names_of(request)) out.push_back({std::move(name), "", std::nullopt});
  std::vector<Member*> by_hand;
  for (auto& member : out) {
    const auto found = request.positions.find(member.node_name), kept = request.kept.find(member.node_name);
    if (found != request.positions.end()) {
      member.position = found->second;
    } else if (kept != request.kept.end()) {
      member.position = kept->second;
      by_hand.push_back(&member);
    }
  }
  drop_single_levels(by_hand);
  return out;
}

struct Counts {
  std::size_t placed = 0, in_domains = 0;
};

Counts count(const std::vector<Member>& members) {
  Counts out;
  for (const auto& member : members) {
    if (!member.position) continue;
    ++out.placed;
    if (!domain_of(*member.position).empty()) ++out.in_domains;
  }
  return out;
}

// What the rule is for groups of known types, for nodes of which only the place is known.
std::pair<Preference, std::string> choose_by(const Counts& counts, const slurm::Version& version) {
  if (counts.placed == 0) return {Preference::off, "no node has a known place"};
  if (counts.in_domains < counts.placed)
    return {Preference::tree,
            counts.in_domains == 0
                ? fmt::format("{} nodes have a known place in the network", counts.placed)
                : fmt::format("only {} of {} placed nodes have an NVLink domain", counts.in_domains, counts.placed)};
  if (!slurm::release_of(version).block)
    return {Preference::tree, fmt::format("{} has no blocks", slurm::describe(version))};
  return {Preference::block, fmt::format("all {} placed nodes have an NVLink domain", counts.placed)};
}

}  // namespace

ClusterPlan plan_alone(const AloneRequest& request, Memory& memory) {
  Request wanted{.members = members_of(request),
                 .groups = {},
                 .version = request.version,
                 .preference = request.preference,
                 .base_size = request.base_size};
  const auto [preference, because] = choose_by(count(wanted.members), request.version);
  const bool by_rule = request.preference == Preference::automatic;
  if (by_rule) wanted.preference = preference;
  auto out = plan_cluster(wanted, memory);
  // What it had to bend it says itself.
  if (by_rule && out.main().model == (preference == Preference::block ? Model::block : out.main().model))
    out.choice.because = out.topologies.front().because = because;
  return out;
}

Result<Positions> kept_positions(std::string_view file) {
  const auto shown = read_file_text(file);
  if (!shown) return tl::unexpected(shown.error());
  Positions out;
  const auto main = std::ranges::find_if(*shown, &Shown::cluster_default);
  if (shown->empty()) return out;
  const auto& plan = (main == shown->end() ? shown->front() : *main).plan;
  std::unordered_map<std::string, std::string> parents;
  for (const auto& line : plan.switches)
    for (const auto& child : line.switches) parents.emplace(child, line.name);
  for (const auto& line : plan.switches) {
    if (line.nodes.empty() || line.name == kUnplaced || line.name == kOffFabric) continue;
    Position position{{line.name}, ""};
    for (auto at = parents.find(line.name); at != parents.end() && at->second != kRoot; at = parents.find(at->second)) {
      if (position.network_nodes.size() >= kMaxPath) break;
      position.network_nodes.insert(position.network_nodes.begin(), at->second);
    }
    for (const auto& node : line.nodes) out.emplace(node, position);
  }
  for (const auto& block : plan.blocks)
    for (const auto& node : block.nodes)
      if (block.name != kOffFabric) out.emplace(node, Position{{}, block.name});
  return out;
}

}  // namespace espalier::topology
