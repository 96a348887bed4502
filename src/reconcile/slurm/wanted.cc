#include "reconcile/slurm/wanted.h"

#include <algorithm>

namespace espalier::reconcile {

namespace {

const Slot* controller_of(const ClusterState& state) {
  for (const auto& [id, slot] : state.slots)
    if (state.groups.at(slot.group).type == NodeType::Controller) return &slot;
  return nullptr;
}

bool has_enrolled(const Slot& slot) { return slot.machine && !slot.credential.empty(); }

bool has_machine(const Slot& slot) { return slot.machine && slot.state != SlotState::Terminating; }

// A machine's place counts from its launch to its end.
std::optional<Position> position_of(const Slot& slot) {
  if (!has_machine(slot) || (slot.machine->position.network_nodes.empty() && slot.machine->position.domain.empty()))
    return std::nullopt;
  return slot.machine->position;
}

// What is known of the compute slots, group by group.
struct Slots {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> nodes;  // by group and type
  topology::Request request;
};

Slots slots_of(const ClusterState& state, SlurmWanted& wanted) {
  Slots out;
  for (const auto& [id, slot] : state.slots) {
    const Group& group = state.groups.at(slot.group);
    if (group.type != NodeType::Compute) continue;
    out.nodes[group.name][slot.instance_type].push_back(slot.node_name);
    out.request.members.push_back(member_of(slot));
    if (has_machine(slot)) wanted.machines[id] = slot.machine->id;
  }
  for (const auto& [name, group] : state.groups)
    if (group.type == NodeType::Compute) out.request.groups.push_back({name, group.partition, types_of(group)});
  out.request.version = slurm_version(state.slurm);
  out.request.preference = topology::read_preference(state.cluster.topology).value_or(topology::Preference::automatic);
  return out;
}

// While an upgrade is under way, machines with the older Slurm read the same slurm.conf, and every srun and slurmd of
// theirs refuses a file with words that it does not know.
std::unordered_set<SlotId> other_releases(const ClusterState& state) {
  std::unordered_set<SlotId> out;
  if (const Slot* controller = controller_of(state))
    for (const auto& [id, slot] : state.slots)
      if (has_other_release(slot, *controller)) out.insert(id);
  return out;
}

// True: the last machine of another release has gone. One that comes has not enrolled yet.
bool becomes_one_release(const ClusterState& state, const std::set<SlotId>& moved, std::unordered_set<SlotId>& others) {
  if (others.empty()) return false;
  std::erase_if(others, [&](const SlotId& id) { return moved.contains(id) && !has_enrolled(state.slots.at(id)); });
  return others.empty();
}

void add_topology(const topology::ClusterPlan& plan, slurm::ClusterFiles& files) {
  auto texts = topology::render(plan);
  files.topology_plugin = std::move(texts.plugin);
  files.topology_param = std::move(texts.param);
  files.topology_file = std::move(texts.conf);
  files.topology_yaml = std::move(texts.yaml);
  files.padding = topology::padding(plan);
  for (const auto& [partition, model] : plan.partitions) files.partition_topology[partition] = enum_name(model);
}

// slurmd of an older release dies without the topology.conf that the plugin wants. Where there is a topology.yaml, the
// newer slurmctld looks at nothing else; by the oldest name of the plugin both know it.
void suit_the_older_release(slurm::ClusterFiles& files) {
  if (!files.topology_yaml.empty()) files.topology_plugin = "topology/default";
}

}  // namespace

slurm::Version slurm_version(const SlurmApplied& slurm) {
  return slurm::read_version(slurm.version).value_or(slurm::kOwnImage);
}

bool has_other_release(const Slot& slot, const Slot& controller) {
  if (!has_enrolled(slot) || !controller.machine) return false;  // it is told nothing yet
  if (slot.slurm.empty() || controller.slurm.empty()) return slot.machine->image != controller.machine->image;
  if (slot.slurm == controller.slurm) return false;
  const auto own = slurm::read_version(slot.slurm), theirs = slurm::read_version(controller.slurm);
  return !own || !theirs || own->year != theirs->year || own->month != theirs->month;
}

topology::Member member_of(const Slot& slot) {
  return {slot.node_name, slot.instance_type, position_of(slot), slot.group, slot.number};
}

// Those that slurmctld was seen to have, and those of the file that it was last given.
std::set<topology::Model> topologies_in_use(const ClusterState& state, const std::vector<topology::Shown>& shown) {
  std::set<topology::Model> out;
  for (const auto& each : shown) out.insert(each.plan.model);
  const auto file = state.slurm.files.find(slurm::kTopologyYaml);
  for (const auto model : {topology::Model::tree, topology::Model::block})
    if (file != state.slurm.files.end() &&
        file->second.find(fmt::format("- topology: {}\n", enum_name(model))) != std::string::npos)
      out.insert(model);
  return out;
}

SlurmWanted slurm_wanted(const ClusterState& state, const std::vector<topology::Shown>& shown) {
  SlurmWanted wanted;
  Slots slots = slots_of(state, wanted);
  slots.request.kept = topologies_in_use(state, shown);
  slurm::ClusterFiles files;
  files.cluster_name = state.cluster.name;
  if (const Slot* controller = controller_of(state)) {
    files.controller_name = controller->node_name;
    files.controller_address = controller->machine ? controller->machine->address : controller->address;
  }
  for (const auto& [name, group] : state.groups) {
    if (group.type != NodeType::Compute) continue;
    auto& partition = files.partitions[group.partition];
    for (auto& [type, nodes] : slots.nodes[name]) {
      std::ranges::sort(nodes, slurm::natural_less);
      files.nodes.push_back({name, type, nodes});
      partition.insert(partition.end(), nodes.begin(), nodes.end());
    }
  }
  topology::Memory memory{state.slurm.blocks};
  wanted.plan = topology::plan_cluster(slots.request, memory);
  wanted.other_releases = other_releases(state);
  const bool one_release = wanted.other_releases.empty();
  if (!one_release) wanted.plan.partitions.clear();
  topology::keep_leaves_in_use(wanted.plan, shown);
  wanted.places = topology::places(wanted.plan);
  add_topology(wanted.plan, files);
  if (!one_release) suit_the_older_release(files);
  wanted.target.version = state.slurm.version;
  wanted.target.blocks = std::move(memory.blocks);
  wanted.target.files = slurm::render(files);
  wanted.target.partition_nodes = slurm::partition_nodes(files);
  wanted.request = std::make_shared<topology::Request>(std::move(slots.request));
  return wanted;
}

bool patch_wanted(const ClusterState& state, const std::set<SlotId>& moved, topology::Patcher& patcher,
                  SlurmWanted& wanted) {
  if (becomes_one_release(state, moved, wanted.other_releases)) return false;
  auto& files = wanted.target.files;
  topology::TopologyFiles texts;
  for (const auto& [name, text] : {std::pair(slurm::kTopologyConf, &texts.conf), {slurm::kTopologyYaml, &texts.yaml}})
    if (const auto file = files.find(name); file != files.end()) *text = std::move(file->second);
  for (const SlotId& id : moved) {
    const Slot& slot = state.slots.at(id);
    if (!patcher.move(member_of(slot), wanted.plan, texts)) return false;
    if (auto place = patcher.place_of(slot.node_name, wanted.plan); !place.empty())
      wanted.places[slot.node_name] = std::move(place);
    wanted.machines.erase(id);
    if (has_machine(slot)) wanted.machines[id] = slot.machine->id;
  }
  if (!texts.conf.empty()) files[slurm::kTopologyConf] = std::move(texts.conf);
  if (!texts.yaml.empty()) files[slurm::kTopologyYaml] = std::move(texts.yaml);
  return true;
}

}  // namespace espalier::reconcile
