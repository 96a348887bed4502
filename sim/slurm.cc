#include "slurm.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "agent/slurm_text.h"
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
  if (node.cloud)
    state += "~";
  else if (!node.responding)
    state += "*";
  return state;
}

// Absent, and open to jobs; not by a slurmctld that forgot what it was told.
bool is_hostage(const Slurm::Node& node) { return node.cloud && !node.down && !node.drain && !node.lost; }

// What only reads leaves things as they were before our first word.
bool changes(agent::SlurmStepKind kind) {
  using enum agent::SlurmStepKind;
  return kind != ReadNodes && kind != ReadTopology && kind != ReadPartitions && kind != ReadJob;
}

constexpr const char* kSilent = "Not responding";

// The switches of a topology.conf, to be shown with all nodes below each.
class Switches {
 public:
  explicit Switches(const std::string& text) {
    for (const std::string& line : lines_with(text, "SwitchName")) {
      Switch& one = all_[value(line, "SwitchName")];
      one.children = names(value(line, "Switches"));
      one.nodes = names(value(line, "Nodes"));
      one.is_leaf = one.children.empty();
    }
    for (auto& [name, one] : all_) collect(one);
  }

  std::map<std::string, std::set<std::string>> leaves() const {
    std::map<std::string, std::set<std::string>> out;
    for (const auto& [name, one] : all_)
      if (one.is_leaf)
        for (const std::string& node : one.nodes) out[node].insert(name);
    return out;
  }
  std::string text() const {
    std::string out;
    for (const auto& [name, one] : all_) {
      out += "SwitchName=" + name + " Level=" + std::to_string(one.level) +
             " LinkSpeed=1 Nodes=" + slurm::compress(one.nodes);
      if (!one.is_leaf) out += " Switches=" + slurm::compress(one.children);
      out += "\n";
    }
    return out;
  }

 private:
  struct Switch {
    std::vector<std::string> children;
    std::vector<std::string> nodes;
    bool is_leaf = true;
    bool collected = false;
    int level = 0;
  };
  void collect(Switch& one) {
    if (std::exchange(one.collected, true)) return;
    for (const std::string& child : one.children) {
      const auto found = all_.find(child);
      if (found == all_.end()) continue;
      collect(found->second);
      one.level = std::max(one.level, 1 + found->second.level);
      one.nodes.insert(one.nodes.end(), found->second.nodes.begin(), found->second.nodes.end());
    }
  }
  std::map<std::string, Switch> all_;
};

}  // namespace

void Slurm::start(const std::vector<agent::ConfigFile>& files) {
  ++version_;
  for (const auto& file : files)
    if (!file.keep || !files_.contains(file.name)) files_[file.name] = file.text;
  if (up_) return;
  start_again();
  look_for_hostages();
}

void Slurm::start_again() {
  up_ = !files_.empty();
  if (up_) read_files();
}

void Slurm::read_files() {
  ++version_;
  read_nodes();
  read_partitions();
  read_topology();
}

// Nodes, jobs and what is drained are in the saved state; partitions and topology come from the files.
void Slurm::start_from_saved() {
  ++version_;
  for (auto& [name, node] : nodes_) {
    const int jobs = node.jobs;
    const bool dead = node.dead;
    const auto old = saved_.find(name);
    node = old == saved_.end() ? Node{} : old->second;
    node.jobs = jobs;
    node.dead = dead;
  }
  start_again();
  for (auto& [name, node] : nodes_) node.lost = node.cloud && !node.down;
}

bool Slurm::registers(const std::string& node, const std::string& address) {
  ++version_;
  const auto found = nodes_.find(node);
  if (!up_ || found == nodes_.end()) return false;
  Node& it = found->second;
  it.cloud = it.dead = false;
  it.responding = true;
  it.address = address;
  if (it.down && it.reason == kSilent) {  // ReturnToService=1
    it.down = false;
    it.reason.clear();
  }
  return true;
}

void Slurm::machine_dies(const std::string& node) {
  nodes_.at(node).dead = true;
  machine_ends(node);
}

void Slurm::machine_ends(const std::string& node) {
  std::vector<int> ended;
  for (const auto& [id, job] : jobs_)
    if (std::ranges::find(job.nodes, node) != job.nodes.end()) ended.push_back(id);
  for (const int id : ended) end_job(id);
}

void Slurm::notices_silence(const std::string& node, const std::string& address) {
  ++version_;
  const auto found = nodes_.find(node);
  if (!up_ || found == nodes_.end() || found->second.address != address || found->second.cloud) return;
  Node& it = found->second;
  it.responding = false;
  if (it.down) return;
  it.down = true;
  machine_ends(node);  // slurmctld ends what it started there since
  if (it.reason.empty()) it.reason = kSilent;
}

void Slurm::forget(const std::string& node) {
  ++version_;
  nodes_.at(node) = Node{};
  nodes_.at(node).down = true;
  nodes_.at(node).reason = "espalier:waiting";
}

bool Slurm::usable(const std::string& name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return false;
  const Node& node = found->second;
  return !node.down && !node.drain && !node.fail && !node.cloud && node.responding && node.jobs == 0;
}

int Slurm::start_job(const std::string& partition, int nodes) {
  const auto chosen = up_ ? run_job(partition, nodes) : std::vector<std::string>{};
  if (chosen.empty()) return 0;
  jobs_[++last_job_] = {partition, chosen};
  return last_job_;
}

void Slurm::end_job(int job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  end_job(found->second.nodes);
  jobs_.erase(found);
}

std::vector<std::string> Slurm::run_job(const std::string& partition, int count) {
  ++version_;
  std::vector<std::string> chosen;
  if (closed_.contains(partition)) return chosen;
  for (const std::string& name : partitions_[partition])
    if (usable(name) && static_cast<int>(chosen.size()) < count) chosen.push_back(name);
  if (static_cast<int>(chosen.size()) < count) return {};
  for (const std::string& name : chosen) ++nodes_[name].jobs;
  return chosen;
}

void Slurm::end_job(const std::vector<std::string>& nodes) {
  for (const std::string& name : nodes) let_go(name);
}

void Slurm::let_go(const std::string& node) {
  ++version_;
  const auto found = nodes_.find(node);
  if (found != nodes_.end() && found->second.jobs > 0) --found->second.jobs;
}

void Slurm::admin_sets(const std::string& node, const std::string& state, const std::string& reason) {
  ++version_;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  Node& it = found->second;
  it.down = it.down || state == "down";
  it.fail = it.fail || state == "fail";
  it.drain = it.drain || state == "drain";
  it.reason = reason;
  it.foreign = it.touched = !reason.starts_with("Action:");  // an order is ours to carry out, and to end
  it.known.reset();
  if (state != "down") return;
  machine_ends(node);  // its jobs are ended
  it.jobs = 0;
}

void Slurm::admin_lifts(const std::string& node, Time now) {
  ++version_;
  const auto found = nodes_.find(node);
  if (!up_ || found == nodes_.end()) return;
  Node& it = found->second;
  it.drain = it.fail = it.foreign = it.touched = false;
  it.lifted = now;
  it.down = it.cloud;  // an admin who knows that there is no machine leaves it so
  it.reason = it.down ? "espalier:waiting" : "";
}

agent::NodeView Slurm::view(const std::string& node) const {
  const Node& it = nodes_.at(node);
  return {node, state_of(it), it.address, it.reason};
}

std::vector<agent::NodeView> Slurm::view() const {
  std::vector<agent::NodeView> views;
  views.reserve(nodes_.size());
  for (const auto& [name, node] : nodes_) views.push_back(view(name));
  return views;
}

void Slurm::shown(const std::vector<agent::NodeView>& views, Time now) {
  for (const auto& one : views)
    if (const auto found = nodes_.find(one.name);
        found != nodes_.end() && found->second.foreign && one.reason == found->second.reason && !found->second.known)
      found->second.known = now;
}

agent::CommandResult Slurm::carry_out(const std::string& id, const std::vector<agent::SlurmStep>& steps,
                                      Time decided_after) {
  decided_after_ = decided_after;
  agent::CommandResult result{id, true, "", {}};
  auto accepted = files_;
  for (const agent::SlurmStep& step : steps) {
    if (up_)
      result.steps.push_back(one(step));
    else
      result.steps.push_back({false, "slurmctld does not answer"});
    if (!result.steps.back().ok) {
      result.ok = false;
      files_ = std::move(accepted);  // what was written and not taken is put back
      break;
    }
    if (step.kind == agent::SlurmStepKind::Reconfigure) accepted = files_;
    if (changes(step.kind)) look_for_hostages();
  }
  if (changed) changed(*this);
  return result;
}

agent::SlurmStepResult Slurm::one(const agent::SlurmStep& step) {
  ++version_;
  using enum agent::SlurmStepKind;
  if (refuse.contains(std::string(enum_name(step.kind))) || (refuses_now && refuses_now(step)))
    return {false, "refused"};
  switch (step.kind) {
    case WriteFiles:
      for (const auto& file : step.files) files_[file.name] = file.text;
      for (const auto& name : step.remove) files_.erase(name);
      return {true, ""};
    case Reconfigure:
      ++reconfigures;
      read_files();
      return {true, ""};
    case UpdateNodes:
      return update_nodes(step);
    case UpdatePartition:
      if (!partitions_.contains(step.partition)) return {false, "Invalid partition name"};
      [[fallthrough]];
    case CreatePartition: {
      const auto list = names(step.nodes);
      for (const std::string& name : list)
        if (!nodes_.contains(name)) return {false, "Invalid node name " + name};
      partitions_[step.partition] = {list.begin(), list.end()};
      if (step.options.find("State=UP") != std::string::npos) closed_.erase(step.partition);
      return {true, ""};
    }
    case DeletePartition:
      for (const auto& [id, job] : jobs_)
        if (job.partition == step.partition) return {false, "Partition is in use"};
      partitions_.erase(step.partition);
      return {true, ""};
    case ReadNodes:
      return {true, node_lines(step.nodes)};
    case ReadTopology:
      return {true, topology_text_};
    case ReadPartitions: {
      std::string text;
      for (const auto& [name, list] : partitions_)
        text += name + "|" + slurm::compress({list.begin(), list.end()}) + "\n";
      return {true, text};
    }
    case ReadJob:
      return {false, "Invalid job id specified"};
  }
  return {false, "?"};
}

std::string Slurm::node_lines(const std::string& hostlist) const {
  std::vector<agent::NodeView> views;
  if (hostlist.empty())
    views = view();
  else
    for (const std::string& name : names(hostlist))
      if (nodes_.contains(name)) views.push_back(view(name));
  if (hides_node) std::erase_if(views, [&](const auto&) { return hides_node(); });
  return agent::node_lines(views);
}

agent::SlurmStepResult Slurm::update_nodes(const agent::SlurmStep& step) {
  const auto nodes = names(step.nodes);
  const auto addresses = names(step.address);
  if (!step.address.empty() && addresses.size() != nodes.size()) return {false, "as many addresses as nodes"};
  for (const std::string& name : nodes)
    if (!nodes_.contains(name)) return {false, "no node " + name};
  for (std::size_t i = 0; i < nodes.size(); ++i) update_node(nodes[i], step, addresses.empty() ? "" : addresses[i]);
  return {true, ""};
}

void Slurm::update_node(const std::string& name, const agent::SlurmStep& step, const std::string& address) {
  Node& node = nodes_[name];
  const bool lifts = step.state == "IDLE" || step.state == "UNDRAIN" || step.state == "RESUME";
  const bool renames = !step.reason.empty() && step.reason != node.reason;
  if (node.foreign && node.known && *node.known < decided_after_ && (lifts || renames))
    violated("what an admin did to " + name + " (" + node.reason + ") is undone by " + step.state + " " + step.reason);
  if (step.state == "DOWN") {
    if (node.jobs > 0 && !node.down) {
      if (!node.dead && node.lifted <= decided_after_)
        violated("jobs on " + name + " are ended: it is set DOWN " + step.reason);
      machine_ends(name);
    }
    node.down = true;
    node.lost = false;
  }
  if (step.state == "DRAIN") node.drain = true;
  if (step.state == "UNDRAIN") node.drain = false;
  if (step.state == "IDLE" || step.state == "RESUME") node.down = node.drain = node.fail = false;
  if (lifts || renames) node.foreign = false;
  if (!step.reason.empty()) node.reason = step.reason;
  if (!address.empty()) node.address = address;
  if (!node.down && !node.drain) node.reason.clear();
}

void Slurm::read_nodes() {
  std::map<std::string, Node> declared;
  for (const std::string& line : lines_with(files_[slurm::kNodesConf], "NodeName")) {
    if (value(line, "State") == "FUTURE") continue;
    for (const std::string& name : names(value(line, "NodeName")))
      declared[name] = nodes_.contains(name) ? nodes_[name] : Node{};
  }
  for (const auto& [name, node] : nodes_)
    if (node.jobs > 0 && !declared.contains(name)) violated("the busy node " + name + " is taken out of Slurm");
  nodes_ = std::move(declared);
}

void Slurm::read_partitions() {
  partitions_.clear();
  closed_.clear();
  for (const std::string& line : lines_with(files_[slurm::kPartitionsConf], "PartitionName")) {
    const auto list = names(value(line, "Nodes"));
    const std::string name = value(line, "PartitionName");
    partitions_[name] = {list.begin(), list.end()};
    if (value(line, "State") == "DOWN") closed_.insert(name);
  }
}

void Slurm::read_topology() {
  leaves_.clear();
  topology_text_.clear();
  const auto file = files_.find(slurm::kTopologyConf);
  if (file == files_.end()) return;
  const Switches switches(file->second);
  leaves_ = switches.leaves();
  topology_text_ = switches.text();
  for (const std::string& line : lines_with(file->second, "BlockName")) {
    topology_text_ += "BlockName=" + value(line, "BlockName") + " BlockIndex=0 Nodes=" + value(line, "Nodes") + "\n";
    for (const std::string& name : names(value(line, "Nodes")))
      if (nodes_.contains(name)) leaves_[name].insert(value(line, "BlockName"));
  }
}

void Slurm::admin_writes_topology(const std::string& text) {
  files_[slurm::kTopologyConf] = text;
  read_topology();
}

void Slurm::look_for_hostages() {
  for (const auto& [partition, list] : partitions_) {
    if (closed_.contains(partition)) continue;
    for (const std::string& name : list)
      if (const auto node = nodes_.find(name); node != nodes_.end() && is_hostage(node->second)) hostages.insert(name);
  }
}

}  // namespace espalier::sim
