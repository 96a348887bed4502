#include "slurm.h"

#include <algorithm>
#include <sstream>

#include "slurm/files.h"
#include "slurm/hostlist.h"

namespace espalier::sim {

namespace {

// The values of `key=` in every line that begins with `first=`.
std::string value(const std::string& line, const std::string& key) {
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
  return "";
}

std::vector<std::string> lines_with(const std::string& text, const std::string& first) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(first + "=")) found.push_back(line);
  return found;
}

std::vector<std::string> names(const std::string& hostlist) {
  if (hostlist.empty() || hostlist == "\"\"") return {};
  return slurm::expand(hostlist).value_or(std::vector<std::string>{});
}

std::string state_of(const Slurm::Node& node) {
  // As sinfo has it: a drain hides DOWN, and so does FAIL.
  std::string state = node.drain      ? (node.jobs > 0 ? "draining" : "drained")
                      : node.fail     ? (node.jobs > 0 ? "failing" : "fail")
                      : node.down     ? "down"
                      : node.jobs > 0 ? "allocated"
                                      : "idle";
  if (node.cloud) state += "~";
  return state;
}

}  // namespace

void Slurm::start(const std::vector<agent::ConfigFile>& files) {
  for (const auto& file : files)
    if (!file.keep || !files_.contains(file.name)) files_[file.name] = file.text;
  read_nodes();
  read_partitions();
  read_topology();
}

bool Slurm::registers(const std::string& node, const std::string& address) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return false;
  found->second.cloud = false;
  found->second.address = address;
  return true;
}

void Slurm::forget(const std::string& node) {
  nodes_.at(node) = Node{};
  nodes_.at(node).down = true;
  nodes_.at(node).reason = "espalier:waiting";
}

void Slurm::admin_sets(const std::string& name, const std::string& state, const std::string& reason) {
  Node& node = nodes_.at(name);
  node.down = node.down || state == "down";
  node.fail = node.fail || state == "fail";
  node.drain = node.drain || state == "drain";
  if (node.down) node.jobs = 0;
  node.reason = reason;
}

bool Slurm::usable(const std::string& name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return false;
  const Node& node = found->second;
  return !node.down && !node.drain && !node.fail && !node.cloud && node.jobs == 0;
}

std::vector<std::string> Slurm::run_job(const std::string& partition, int count) {
  std::vector<std::string> chosen;
  for (const std::string& name : partitions_[partition])
    if (usable(name) && static_cast<int>(chosen.size()) < count) chosen.push_back(name);
  if (static_cast<int>(chosen.size()) < count) return {};
  for (const std::string& name : chosen) ++nodes_[name].jobs;
  return chosen;
}

void Slurm::end_job(const std::vector<std::string>& nodes) {
  for (const std::string& name : nodes)
    if (nodes_.contains(name) && nodes_[name].jobs > 0) --nodes_[name].jobs;
}

std::vector<agent::NodeView> Slurm::view() const {
  std::vector<agent::NodeView> views;
  for (const auto& [name, node] : nodes_) views.push_back({name, state_of(node), node.address, node.reason});
  return views;
}

agent::CommandResult Slurm::carry_out(const std::string& id, const std::vector<agent::SlurmStep>& steps) {
  agent::CommandResult result{id, true, "", {}};
  const auto saved = files_;
  for (const agent::SlurmStep& step : steps) {
    result.steps.push_back(one(step));
    if (!result.steps.back().ok) {
      result.ok = false;
      if (step.kind == agent::SlurmStepKind::Reconfigure) files_ = saved;
      break;
    }
    look_for_hostages();
  }
  return result;
}

agent::SlurmStepResult Slurm::one(const agent::SlurmStep& step) {
  using enum agent::SlurmStepKind;
  if (refuse.contains(std::string(enum_name(step.kind)))) return {false, "refused"};
  switch (step.kind) {
    case WriteFiles:
      for (const auto& file : step.files) files_[file.name] = file.text;
      for (const auto& name : step.remove) files_.erase(name);
      return {true, ""};
    case Reconfigure:
      ++reconfigures;
      read_nodes();
      read_partitions();
      read_topology();
      return {true, ""};
    case UpdateNodes:
      if (!step.address.empty() && names(step.address).size() != names(step.nodes).size())
        return {false, "as many addresses as nodes"};
      for (const std::string& name : names(step.nodes)) {
        if (!nodes_.contains(name)) return {false, "no node " + name};
        Node& node = nodes_[name];
        if (step.state == "DOWN") node.down = true;
        if (step.state == "DRAIN") node.drain = true;
        if (step.state == "UNDRAIN") node.drain = false;
        if (step.state == "IDLE") node.down = node.drain = node.fail = false;
        if (!step.reason.empty()) node.reason = step.reason;
        if (!step.address.empty()) node.address = names(step.address).front();
      }
      return {true, ""};
    case UpdatePartition:
    case CreatePartition: {
      const auto list = names(step.nodes);
      partitions_[step.partition] = {list.begin(), list.end()};
      return {true, ""};
    }
    case DeletePartition:
      partitions_.erase(step.partition);
      return {true, ""};
    case ReadNodes: {
      std::string text;
      for (const auto& v : view()) text += v.name + "|" + v.state + "|" + v.address + "|" + v.reason + "\n";
      return {true, text};
    }
    case ReadTopology:
      return {true, show_topology()};
    case ReadPartitions: {
      std::string text;
      for (const auto& [name, list] : partitions_)
        text += name + "|" + slurm::compress({list.begin(), list.end()}) + "\n";
      return {true, text};
    }
  }
  return {false, "?"};
}

void Slurm::read_nodes() {
  std::map<std::string, Node> declared;
  for (const std::string& line : lines_with(files_[slurm::kNodesConf], "NodeName")) {
    if (value(line, "State") == "FUTURE") continue;
    for (const std::string& name : names(value(line, "NodeName")))
      declared[name] = nodes_.contains(name) ? nodes_[name] : Node{};
  }
  nodes_ = std::move(declared);
}

void Slurm::read_partitions() {
  partitions_.clear();
  for (const std::string& line : lines_with(files_[slurm::kPartitionsConf], "PartitionName")) {
    const auto list = names(value(line, "Nodes"));
    partitions_[value(line, "PartitionName")] = {list.begin(), list.end()};
  }
}

void Slurm::read_topology() {
  leaves_.clear();
  switches_.clear();
  blocks_.clear();
  if (!files_.contains(slurm::kTopologyConf)) return;
  for (const std::string& line : lines_with(files_[slurm::kTopologyConf], "SwitchName"))
    switches_[value(line, "SwitchName")] = names(value(line, "Switches"));
  for (const std::string& line : lines_with(files_[slurm::kTopologyConf], "SwitchName"))
    for (const std::string& name : names(value(line, "Nodes"))) leaves_[name].insert(value(line, "SwitchName"));
  for (const std::string& line : lines_with(files_[slurm::kTopologyConf], "BlockName")) {
    blocks_.emplace_back(value(line, "BlockName"), value(line, "Nodes"));
    for (const std::string& name : names(value(line, "Nodes")))
      if (nodes_.contains(name)) leaves_[name].insert(value(line, "BlockName"));
  }
}

// As `scontrol show topology` of 24.11 prints it: every switch with all nodes below it.
std::string Slurm::show_topology() const {
  std::string text;
  for (const auto& [name, nodes] : blocks_) text += "BlockName=" + name + " BlockIndex=0 Nodes=" + nodes + "\n";
  for (const auto& [name, children] : switches_) {
    std::vector<std::string> below;
    const int level = collect(name, below);
    text += "SwitchName=" + name + " Level=" + std::to_string(level) + " LinkSpeed=1 Nodes=" + slurm::compress(below);
    if (!children.empty()) text += " Switches=" + slurm::compress(children);
    text += "\n";
  }
  return text;
}

int Slurm::collect(const std::string& name, std::vector<std::string>& nodes) const {
  int level = 0;
  for (const auto& [node, leaves] : leaves_)
    if (leaves.contains(name)) nodes.push_back(node);
  if (const auto found = switches_.find(name); found != switches_.end())
    for (const std::string& child : found->second) level = std::max(level, 1 + collect(child, nodes));
  return level;
}

void Slurm::look_for_hostages() {
  for (const auto& [partition, list] : partitions_)
    for (const std::string& name : list)
      if (const auto node = nodes_.find(name); node != nodes_.end() && node->second.cloud && !node->second.down)
        hostages.insert(name);
}

}  // namespace espalier::sim
