#include "topology/cluster_plan.h"

#include <algorithm>
#include <set>

#include "slurm/hostlist.h"
#include "topology/compare.h"
#include "topology/order.h"

namespace espalier::topology {
namespace {

std::vector<GroupTypes> groups_of(const Request& request) {
  if (!request.groups.empty()) return request.groups;
  std::set<std::string> types;
  for (const auto& member : request.members) types.insert(member.instance_type);
  GroupTypes all{"", "", {types.begin(), types.end()}};
  return {all};
}

std::size_t padding_of(const Plan& plan) {
  std::size_t count = 0;
  for (const auto& block : plan.blocks) count += block.padding.size();
  return count;
}

Ordered with_nvlink(const Ordered& members) {
  Ordered out;
  ClassOf class_of;
  for (const auto* member : members)
    if (class_of(member->instance_type) == TopologyClass::block) out.push_back(member);
  return out;
}

// The topology of the whole cluster. Blocks that cannot be written become a tree, and the reason says why.
Plan main_topology(const Request& request, const Ordered& members, const Choice& choice, Memory& memory,
                   std::vector<std::string>& notes) {
  if (members.empty()) return {Model::flat, "there is no node yet", {}};
  if (choice.model == Model::flat) return {Model::flat, choice.because, {}};
  if (choice.model == Model::tree) return plan_tree(members, choice.because);
  auto blocks = plan_blocks(members, choice.because, block_rules(request.version, request.base_size), memory, notes);
  const auto all = members.size() + padding_of(blocks);
  if (all <= slurm::kNodeTable) return blocks;
  return plan_tree(members,
                   fmt::format("{}; but full blocks would need {} node names, and Slurm has room for {}: a tree serves",
                               choice.because, all, slurm::kNodeTable));
}

void add_partitions(const Request& request, const Ordered& members, ClusterPlan& out, Memory& memory) {
  const auto has = [&](Model model) {
    return std::ranges::any_of(out.topologies, [model](const Plan& plan) { return plan.model == model; });
  };
  for (const auto& [name, choice] : out.choice.partitions) {
    if (!choice.model || *choice.model == out.main().model) continue;
    if (!has(*choice.model)) {
      Plan extra{*choice.model, choice.because, {}};
      if (*choice.model == Model::tree) extra = plan_tree(members, choice.because);
      if (*choice.model == Model::block)
        extra = plan_blocks(with_nvlink(members), choice.because, block_rules(request.version, request.base_size),
                            memory, out.notes);
      // Nobody is there yet: the partition waits with the default, which holds nobody of it either.
      if (extra.model != *choice.model) continue;
      out.topologies.push_back(std::move(extra));
    }
    out.partitions.emplace(name, *choice.model);
  }
}

void add_kept(const Request& request, const Ordered& members, ClusterPlan& out, Memory& memory) {
  const std::string because = "kept, since slurmctld has saved places of nodes in it";
  for (const auto model : request.kept) {
    if (model == Model::flat || std::ranges::find(out.topologies, model, &Plan::model) != out.topologies.end())
      continue;
    auto extra = model == Model::tree ? plan_tree(members, because)
                                      : plan_blocks(with_nvlink(members), because,
                                                    block_rules(request.version, request.base_size), memory, out.notes);
    if (extra.model == model) out.topologies.push_back(std::move(extra));
  }
}

void add_places(const Plan& topology, std::map<std::string, std::string>& out) {
  for (const auto& [node, unit] : leaves(topology)) {
    auto& place = out[node];
    place += fmt::format("{}{}:{}", place.empty() ? "" : ",", enum_name(topology.model), unit);
  }
}

}  // namespace

ClusterPlan plan_cluster(const Request& request, Memory& memory) {
  ClusterPlan out;
  out.version = request.version;
  out.choice = choose(groups_of(request), request.version, request.preference);
  const auto members = in_order(request.members);
  out.topologies = {main_topology(request, members, out.choice, memory, out.notes)};
  out.choice.model = out.main().model;
  out.choice.because = out.main().because;
  if (out.main().model != Model::flat) add_partitions(request, members, out, memory);
  if (slurm::release_of(request.version).topology_yaml) add_kept(request, members, out, memory);
  out.nvlink_domains = nvlink_domains(members);
  return out;
}

std::vector<std::string> padding(const ClusterPlan& plan) {
  std::vector<std::string> out;
  for (const auto& topology : plan.topologies)
    for (const auto& block : topology.blocks) out.insert(out.end(), block.padding.begin(), block.padding.end());
  return out;
}

std::map<std::string, std::string> places(const ClusterPlan& plan) {
  std::map<std::string, std::string> out;
  for (const auto& topology : plan.topologies) add_places(topology, out);
  return out;
}

// The default first, as in a plan. Padding has no place: no machine will ever have those names.
std::map<std::string, std::string> places(const std::vector<Shown>& shown) {
  std::map<std::string, std::string> out;
  for (const bool main : {true, false})
    for (const auto& each : shown)
      if (each.cluster_default == main) add_places(each.plan, out);
  std::erase_if(out, [](const auto& item) { return is_padding(item.first); });
  return out;
}

bool is_unplaced(std::string_view place) {
  const auto unplaced = fmt::format("tree:{}", kUnplaced);
  return place == unplaced || place.starts_with(unplaced + ",");
}

}  // namespace espalier::topology
