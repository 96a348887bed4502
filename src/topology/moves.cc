#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "slurm/hostlist.h"
#include "topology/compare.h"

namespace espalier::topology {
namespace {

using Parents = std::unordered_map<std::string, std::string>;  // switch → parent; "" for a root

Parents parents_of(const Plan& tree) {
  Parents out;
  for (const auto& line : tree.switches) {
    out.try_emplace(line.name);
    for (const auto& child : line.switches) out[child] = line.name;
  }
  return out;
}

const Shown* named(const std::vector<Shown>& shown, Model model) {
  const auto found = std::ranges::find_if(
      shown, [model](const Shown& s) { return s.plan.model == model && s.name == enum_name(model); });
  return found == shown.end() ? nullptr : &*found;
}

// One topology of the plan beside what slurmctld has of it: what a node's part of `Topology=` must be.
class Way {
 public:
  Way(const Plan& wanted, const Plan& shown)
      : wanted_(wanted), shown_(shown), wants_(parents_of(wanted)), has_(parents_of(shown)) {}

  // Why moves cannot lead there; "" when they can.
  std::string obstacle() {
    return wanted_.model == Model::tree ? tree_obstacle() : wanted_.model == Model::block ? block_obstacle() : "";
  }

  // "tree:leaf7", or "tree:spine:leaf9" when the leaf is still to be made below a known switch.
  [[nodiscard]] std::string place(const std::string& unit) const {
    std::string path = unit;
    if (wanted_.model == Model::tree && has_.count(unit) == 0) {
      auto up = wants_.at(unit);
      for (; !up.empty() && has_.count(up) == 0; up = wants_.at(up)) path = up + ":" + path;
      path = up + ":" + path;
    }
    return fmt::format("{}:{}", enum_name(wanted_.model), path);
  }

 private:
  // Slurm makes switches below known ones; it moves none. So the moves are tried on paper.
  std::string tree_obstacle() {
    if (has_.count(wanted_.switches.front().name) == 0)
      return fmt::format("the root {} is new", wanted_.switches.front().name);
    auto differ = differences(wanted_, after_moves());
    return differ.empty() ? "" : fmt::format("after all moves {}", differ.front());
  }

  [[nodiscard]] Plan after_moves() const {
    Plan out = shown_;
    std::unordered_set<std::string_view> moved;
    for (const auto& line : wanted_.switches) moved.insert(line.nodes.begin(), line.nodes.end());
    std::unordered_map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < out.switches.size(); ++i) {
      std::erase_if(out.switches[i].nodes, [&](const std::string& node) { return moved.count(node) != 0; });
      at.emplace(out.switches[i].name, i);
    }
    for (const auto& line : wanted_.switches) {  // parents come first
      const auto [found, added] = at.emplace(line.name, out.switches.size());
      if (added) {
        out.switches.push_back({line.name, {}, {}});
        out.switches[at.at(wants_.at(line.name))].switches.push_back(line.name);
      }
      auto& nodes = out.switches[found->second].nodes;
      nodes.insert(nodes.end(), line.nodes.begin(), line.nodes.end());
    }
    return out;
  }

  std::string block_obstacle() {
    std::vector<std::string> have;
    for (const auto& block : shown_.blocks) have.push_back(block.name);
    for (std::size_t i = 0; i < wanted_.blocks.size(); ++i) {
      const auto& name = wanted_.blocks[i].name;
      if (std::ranges::find(have, name) == have.end()) return fmt::format("block {} is new", name);
      if (i >= have.size() || have[i] != name) return fmt::format("block {} has another place in the order", name);
    }
    if (!shown_.block_sizes.empty() && shown_.block_sizes != wanted_.block_sizes) return "the block sizes differ";
    return "";
  }

  const Plan& wanted_;
  const Plan& shown_;
  const Parents wants_, has_;
};

std::string missing_topology(const ClusterPlan& plan, const std::vector<Shown>& shown) {
  for (const auto& topology : plan.topologies) {
    const auto* found = named(shown, topology.model);
    if (found == nullptr) return fmt::format("topology {} is new", enum_name(topology.model));
    if (found->cluster_default != (&topology == &plan.main()))
      return fmt::format("the default becomes {}", enum_name(plan.main().model));
  }
  for (const auto& each : shown)
    if (each.plan.model != Model::flat &&
        std::ranges::find(plan.topologies, each.plan.model, &Plan::model) == plan.topologies.end())
      return fmt::format("topology {} is not planned", each.name);
  return "";
}

// A switch that goes although nodes stay where they are: a level that carries no choice any more. These nodes' saved
// places name it, and the file without it would be refused.
std::string saved_obstacle(const ClusterPlan& plan, const std::vector<Shown>& shown,
                           const std::unordered_set<std::string>& moved) {
  for (const auto& node : lost_places(plan, shown))
    if (moved.count(node) == 0) return fmt::format("the saved place of {} names a switch that goes", node);
  return "";
}

Steps steps_of_moves(const ClusterPlan& plan, const std::vector<Shown>& shown) {
  if (auto why = missing_topology(plan, shown); !why.empty()) return {{}, std::move(why)};

  std::map<std::string, std::string> wanted;  // node → whole place
  std::unordered_set<std::string> moved;
  for (const auto& topology : plan.topologies) {
    const auto& have = named(shown, topology.model)->plan;
    Way way(topology, have);
    if (auto why = way.obstacle(); !why.empty()) return {{}, std::move(why)};
    const auto now = leaves(have), then = leaves(topology);
    for (const auto& [node, unit] : then) {
      auto& place = wanted[node];
      place += fmt::format("{}{}", place.empty() ? "" : ",", way.place(unit));
      const auto at = now.find(node);
      if (at == now.end() || at->second != unit) moved.insert(node);
    }
    for (const auto& [node, unit] : now)
      if (then.count(node) == 0) moved.insert(node);
  }
  std::map<std::string, std::vector<std::string>> by_place;
  for (auto& [node, place] : wanted)
    if (moved.count(node) != 0) by_place[place].push_back(node);
  Steps out;
  for (const auto& [place, nodes] : by_place) out.moves.push_back({slurm::compress(nodes), place});
  if (out.moves.empty()) out.reconfigure = "slurmctld shows nodes or switches that are not planned";
  if (auto why = saved_obstacle(plan, shown, moved); !why.empty()) return {{}, std::move(why)};
  return out;
}

}  // namespace

Steps steps_to(const ClusterPlan& plan, const std::vector<Shown>& shown) {
  const bool differs = !differences(plan, shown).empty();
  if (differs && !slurm::release_of(plan.version).topology_yaml)
    return {{}, fmt::format("{} takes its topology from the file alone", describe(plan.version))};
  return differs ? steps_of_moves(plan, shown) : Steps{{}, saved_obstacle(plan, shown, {})};
}

std::vector<std::string> lost_places(const ClusterPlan& plan, const std::vector<Shown>& shown) {
  std::set<std::string> out;
  if (!slurm::release_of(plan.version).topology_yaml) return {};  // nothing is saved
  for (const auto& each : shown) {
    if (each.plan.model == Model::flat || each.name != enum_name(each.plan.model)) continue;
    const auto planned = std::ranges::find(plan.topologies, each.plan.model, &Plan::model);
    const bool gone = planned == plan.topologies.end();
    const auto now = parents_of(each.plan);
    const auto then = gone ? Parents{} : parents_of(*planned);
    for (const auto& [node, unit] : leaves(each.plan)) {
      bool lost = gone;
      if (each.plan.model == Model::tree)
        for (auto up = unit; !up.empty() && !lost; up = now.at(up)) lost = then.count(up) == 0;
      if (lost) out.insert(node);
    }
  }
  return {out.begin(), out.end()};
}

void keep_leaves_in_use(ClusterPlan& plan, const std::vector<Shown>& shown) {
  if (!slurm::release_of(plan.version).empty_switches) return;
  for (auto& topology : plan.topologies) {
    const auto* now = named(shown, topology.model);
    if (topology.model != Model::tree || now == nullptr) continue;
    const auto planned = parents_of(topology);
    for (const auto& line : now->plan.switches) {
      if (line.nodes.empty() || planned.count(line.name) != 0) continue;
      topology.switches.front().switches.push_back(line.name);
      topology.switches.push_back({line.name, {}, {}});
    }
  }
}

}  // namespace espalier::topology
