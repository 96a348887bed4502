#include "topology/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "topology/fabric.h"
#include "topology/order.h"

namespace espalier::topology {
namespace {

// Without a type (nodes that are not ours) the position decides.
bool may_hang(const Member& member, ClassOf& class_of) {
  return member.instance_type.empty() ? is_located(member) : class_of(member.instance_type) != TopologyClass::none;
}

// The types by which a tree is chosen, sorted.
std::set<std::string> capable_types(const std::vector<Member>& members, const std::vector<std::string>& group_types) {
  std::set<std::string> out;
  const auto add = [&](const std::string& type) {
    if (class_of(type) != TopologyClass::none) out.insert(type);
  };
  for (const auto& type : group_types) add(type);
  const std::string* last = nullptr;
  for (const auto& member : members) {
    if (last == nullptr || *last != member.instance_type) add(member.instance_type);
    last = &member.instance_type;
  }
  return out;
}

// Parents before children, each branch whole before the next: the order of the leaves is the order of the fabric, which
// is what Slurm's SwitchAsNodeRank counts by.
void write_out(Branch&& branch, std::vector<Switch>& out) {
  Switch line{std::move(branch.name), {}, std::move(branch.nodes)};
  for (const auto& child : branch.children) line.switches.push_back(child.name);
  out.push_back(std::move(line));
  for (auto& child : branch.children) write_out(std::move(child), out);
}

// The tree over all members: the fabric, then the leaves of those that are not in it.
Branch tree_of(const Ordered& members) {
  Ordered located;
  Branch unplaced{kUnplaced, {}, {}}, off_fabric{kOffFabric, {}, {}};
  ClassOf class_of;
  for (const auto* member : members) {
    if (!may_hang(*member, class_of)) {
      off_fabric.nodes.push_back(member->node_name);
    } else if (!is_located(*member)) {
      unplaced.nodes.push_back(member->node_name);
    } else {
      located.push_back(member);
    }
  }
  Branch root{kRoot, grow(located), {}};
  for (auto* leaf : {&unplaced, &off_fabric})
    if (!leaf->nodes.empty()) root.children.push_back(std::move(*leaf));
  // The common root takes the place of a top switch that stands alone.
  if (root.children.size() == 1 && !root.children.front().children.empty()) {
    auto children = std::move(root.children.front().children);
    root.children = std::move(children);
  }
  return root;
}

}  // namespace

Plan plan(const std::vector<Member>& members, const std::vector<std::string>& group_types) {
  if (members.empty()) return {Model::flat, "there is no node yet", {}};  // a tree without nodes is fatal
  const auto types = capable_types(members, group_types);
  if (types.empty()) return {Model::flat, "no instance type of this cluster has a known place in the network", {}};
  return plan_tree(members, fmt::format("machines of {} have a known place in the network", fmt::join(types, ", ")));
}

Plan plan_tree(const std::vector<Member>& members, std::string because) {
  return plan_tree(in_order(members), std::move(because));
}

Plan plan_tree(const Ordered& members, std::string because) {
  if (members.empty()) return {Model::flat, "there is no node yet", {}};  // a tree without nodes is fatal
  Plan out{Model::tree, std::move(because), {}};
  write_out(tree_of(members), out.switches);
  return out;
}

std::map<std::string, std::string> leaves(const Plan& plan) {
  std::map<std::string, std::string> out;
  for (const auto& line : plan.switches)
    for (const auto& node : line.nodes) out.emplace(node, line.name);
  for (const auto& block : plan.blocks)
    for (const auto& node : block.nodes) out.emplace(node, block.name);
  return out;
}

}  // namespace espalier::topology
