#include "reconcile/slurm/wanted.h"

#include <algorithm>

namespace espalier::reconcile {

namespace {

const Slot* controller_of(const ClusterState& state) {
  for (const auto& [id, slot] : state.slots)
    if (state.groups.at(slot.group).type == NodeType::Controller) return &slot;
  return nullptr;
}

// A machine's place counts from its launch to its end.
std::optional<Position> position_of(const Slot& slot) {
  if (!slot.machine || slot.state == SlotState::Terminating || slot.machine->position.network_nodes.empty())
    return std::nullopt;
  return slot.machine->position;
}

}  // namespace

SlurmWanted slurm_wanted(const ClusterState& state) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> nodes_of;  // by group and type
  std::vector<topology::Member> members;
  SlurmWanted wanted;
  for (const auto& [id, slot] : state.slots) {
    const Group& group = state.groups.at(slot.group);
    if (group.type != NodeType::Compute) continue;
    nodes_of[group.name][slot.instance_type].push_back(slot.node_name);
    members.push_back({slot.node_name, slot.instance_type, position_of(slot)});
    if (slot.machine && slot.state != SlotState::Terminating) wanted.machines[id] = slot.machine->id;
  }
  std::vector<std::string> types;
  slurm::ClusterFiles files;
  files.cluster_name = state.cluster.name;
  if (const Slot* controller = controller_of(state)) {
    files.controller_name = controller->node_name;
    files.controller_address = controller->machine ? controller->machine->address : controller->address;
  }
  for (const auto& [name, group] : state.groups) {
    if (group.type != NodeType::Compute) continue;
    for (const std::string& type : types_of(group)) types.push_back(type);
    auto& partition = files.partitions[group.partition];
    for (auto& [type, nodes] : nodes_of[name]) {
      std::ranges::sort(nodes, slurm::natural_less);
      files.nodes.push_back({name, type, nodes});
      partition.insert(partition.end(), nodes.begin(), nodes.end());
    }
  }
  wanted.plan = topology::plan(members, types);
  wanted.leaves = topology::leaves(wanted.plan);
  files.topology_plugin = topology::plugin(wanted.plan);
  files.topology_file = topology::render(wanted.plan);
  wanted.target.files = slurm::render(files);
  wanted.target.partition_nodes = slurm::partition_nodes(files);
  return wanted;
}

}  // namespace espalier::reconcile
