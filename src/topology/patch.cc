#include "topology/patch.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "slurm/hostlist.h"
#include "topology/fabric.h"

namespace espalier::topology {
namespace {

std::string path_of(const Position& position) { return fmt::format("{}", fmt::join(position.network_nodes, "\n")); }

// Paths with gaps and repetitions are for grow() to judge.
bool is_plain(const Position& position) {
  const auto& ids = position.network_nodes;
  return ids.size() <= kMaxLevels && std::ranges::find(ids, "") == ids.end() &&
         std::ranges::adjacent_find(ids) == ids.end();
}

std::string domain_in(const Member& member) {
  return member.position ? std::string(domain_of(*member.position)) : std::string();
}

bool hangs(const Member& member) { return class_of(member.instance_type) != TopologyClass::none && is_located(member); }

template <typename Plans>
auto* topology_of(Plans& plan, Model model) {
  const auto found = std::ranges::find(plan.topologies, model, &Plan::model);
  return found == plan.topologies.end() ? nullptr : &*found;
}

void insert_in_order(std::vector<std::string>& nodes, const std::string& node) {
  nodes.insert(std::ranges::lower_bound(nodes, node, slurm::natural_less), node);
}

}  // namespace

Patcher::Patcher(const Request& request, const ClusterPlan& plan, const Memory& memory)
    : base_size_(static_cast<std::size_t>(request.base_size)) {
  seats_.reserve(request.members.size());
  for (const auto& member : request.members) {
    seats_.try_emplace(member.node_name, Seat{member, kNone, kNone, kNone});
    if (const auto domain = domain_in(member); !domain.empty()) ++domains_[domain].nodes;
  }
  if (const auto* tree = topology_of(plan, Model::tree)) read_tree(*tree);
  if (const auto* blocks = topology_of(plan, Model::block)) read_blocks(*blocks, memory);
}

void Patcher::read_tree(const Plan& tree) {
  has_tree_ = true;
  for (std::size_t i = 0; i < tree.switches.size(); ++i) {
    if (tree.switches[i].name == kUnplaced) unplaced_ = i;
    for (const auto& node : tree.switches[i].nodes) {
      Seat& seat = seats_.at(node);
      seat.leaf = i;
      if (hangs(seat.member) && leaves_.try_emplace(path_of(*seat.member.position), i).second)
        hear(*seat.member.position);
    }
  }
}

void Patcher::hear(const Position& position) {
  const auto& ids = position.network_nodes;
  agrees_ = agrees_ && is_plain(position);
  for (std::size_t level = 0; level < ids.size(); ++level) {
    const Above now{level == 0 ? "" : ids[level - 1], level, level + 1 == ids.size()};
    const auto& first = above_.try_emplace(ids[level], now).first->second;
    agrees_ = agrees_ && first.parent == now.parent && first.level == now.level && first.is_leaf == now.is_leaf;
  }
}

void Patcher::read_blocks(const Plan& blocks, const Memory& memory) {
  has_blocks_ = true;
  std::unordered_map<std::string, std::size_t> at, home;
  for (std::size_t i = 0; i < blocks.blocks.size(); ++i) {
    at.emplace(blocks.blocks[i].name, i);
    for (const auto& node : blocks.blocks[i].nodes) seats_.at(node).block = i;
  }
  for (const auto& block : memory.blocks) {
    const auto found = at.find(block.name);
    if (found == at.end()) continue;
    home.emplace(fmt::format("{} {}", block.group, block.number), found->second);
    if (const auto domain = domains_.find(block.domain); domain != domains_.end()) domain->second.block = found->second;
  }
  for (auto& [node, seat] : seats_) {
    if (seat.block == kNone || class_of(seat.member.instance_type) != TopologyClass::block) continue;
    const auto number = seat.member.number <= 0 ? 0 : (seat.member.number - 1) / static_cast<int>(base_size_) + 1;
    if (const auto own = home.find(fmt::format("{} {}", seat.member.group, number)); number > 0 && own != home.end())
      seat.home = own->second;
    const auto domain = domain_in(seat.member);
    at_home_ = at_home_ && seat.block == (domain.empty() ? seat.home : domains_.at(domain).block);
  }
}

bool Patcher::move(const Member& now, ClusterPlan& plan, TopologyFiles& files) {
  const auto found = seats_.find(now.node_name);
  if (found == seats_.end() || now.instance_type != found->second.member.instance_type) return false;
  Seat& seat = found->second;
  const auto to = leaf_for(seat, now);
  if (has_tree_ && !leaf_may_change(seat, to, plan)) return false;
  if (has_blocks_ && !domain_may_change(seat, now)) return false;
  if (has_tree_ && seat.leaf != to) change_leaf(seat, to, plan, files);
  change_domain(seat, now, plan);
  seat.member = now;
  return true;
}

// kNone: one that is still to be made.
std::size_t Patcher::leaf_for(const Seat& seat, const Member& now) const {
  if (class_of(now.instance_type) == TopologyClass::none) return now.instance_type.empty() ? kNone : seat.leaf;
  if (!is_located(now)) return unplaced_;
  const auto leaf = leaves_.find(path_of(*now.position));
  return leaf == leaves_.end() ? kNone : leaf->second;
}

bool Patcher::leaf_may_change(const Seat& seat, std::size_t to, const ClusterPlan& plan) const {
  if (!agrees_ || seat.leaf == kNone || to == kNone) return false;
  const auto& switches = topology_of(plan, Model::tree)->switches;
  return seat.leaf == to || (switches[seat.leaf].nodes.size() > 1 && !switches[to].nodes.empty());
}

// It comes to a domain that is there and has room, or leaves one that stays: to or from the seat that it has anyway.
bool Patcher::domain_may_change(const Seat& seat, const Member& now) const {
  const auto before = domain_in(seat.member), after = domain_in(now);
  if (before == after) return true;
  if (!at_home_ || seat.home == kNone || seat.home != seat.block || (!before.empty() && !after.empty())) return false;
  const auto domain = domains_.find(after.empty() ? before : after);
  if (domain == domains_.end() || domain->second.block != seat.block) return false;
  return after.empty() ? domain->second.nodes > 1 : domain->second.nodes > 0 && domain->second.nodes < base_size_;
}

void Patcher::change_leaf(Seat& seat, std::size_t to, ClusterPlan& plan, TopologyFiles& files) const {
  auto& switches = topology_of(plan, Model::tree)->switches;
  const auto& node = seat.member.node_name;
  const Switch from_before = switches[seat.leaf], to_before = switches[to];
  std::erase(switches[seat.leaf].nodes, node);
  insert_in_order(switches[to].nodes, node);
  patch_text(from_before, switches[seat.leaf], files);
  patch_text(to_before, switches[to], files);
  seat.leaf = to;
}

void Patcher::change_domain(const Seat& seat, const Member& now, ClusterPlan& plan) {
  const auto before = domain_in(seat.member), after = domain_in(now);
  if (before == after) return;
  if (!before.empty()) {
    --domains_[before].nodes;
    auto& nodes = plan.nvlink_domains[before];
    std::erase(nodes, now.node_name);
    if (nodes.empty()) plan.nvlink_domains.erase(before);
  }
  if (after.empty()) return;
  ++domains_[after].nodes;
  insert_in_order(plan.nvlink_domains[after], now.node_name);
}

std::string Patcher::place_of(const std::string& node, const ClusterPlan& plan) const {
  const Seat& seat = seats_.at(node);
  std::string out;
  for (const auto& topology : plan.topologies) {
    const auto* unit = topology.model == Model::tree && seat.leaf != kNone     ? &topology.switches[seat.leaf].name
                       : topology.model == Model::block && seat.block != kNone ? &topology.blocks[seat.block].name
                                                                               : nullptr;
    if (unit != nullptr) out += fmt::format("{}{}:{}", out.empty() ? "" : ",", enum_name(topology.model), *unit);
  }
  return out;
}

}  // namespace espalier::topology
