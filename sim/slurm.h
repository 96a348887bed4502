// A Slurm controller that remembers, for the simulation: the steps of agent/protocol.h on files, nodes, partitions and
// topology, with the rules of a real one that matter here (a node not in a partition gets no job, DOWN nodes stay DOWN
// when they register, a reconfigure takes the topology from the file).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/protocol.h"

namespace espalier::sim {

class Slurm {
 public:
  struct Node {
    bool down = false;
    bool drain = false;
    bool fail = false;
    bool cloud = true;  // powered down: nothing has registered
    int jobs = 0;
    std::string address = "0.0.0.0";
    std::string reason;
  };

  // slurmctld starts with these files.
  void start(const std::vector<agent::ConfigFile>& files);
  // A slurmd calls from `address`; false when it is told that there is no such node.
  bool registers(const std::string& node, const std::string& address);
  // slurmctld starts again from a state in which the node was not admitted yet.
  void forget(const std::string& node);
  // scontrol update by an admin: state "down", "fail" or "drain".
  void admin_sets(const std::string& node, const std::string& state, const std::string& reason);
  // Starts a job on every idle node of the partition that a job may use; gives their names.
  std::vector<std::string> run_job(const std::string& partition, int nodes);
  void end_job(const std::vector<std::string>& nodes);

  agent::CommandResult carry_out(const std::string& id, const std::vector<agent::SlurmStep>& steps);
  [[nodiscard]] std::vector<agent::NodeView> view() const;
  [[nodiscard]] bool usable(const std::string& node) const;
  [[nodiscard]] const std::map<std::string, Node>& nodes() const { return nodes_; }
  // The leaf of every node of the topology that is in force.
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& leaves() const { return leaves_; }

  std::set<std::string> refuse;  // kinds of steps that fail, by name
  int reconfigures = 0;
  // Nodes that were in a partition and not DOWN before a machine of theirs had registered: a waiting job would hang.
  std::set<std::string> hostages;

 private:
  agent::SlurmStepResult one(const agent::SlurmStep& step);
  void read_nodes();
  void read_partitions();
  void read_topology();
  void look_for_hostages();
  [[nodiscard]] std::string show_topology() const;
  // All nodes below a switch; gives its level, 0 for a leaf.
  int collect(const std::string& name, std::vector<std::string>& nodes) const;

  std::map<std::string, std::string> files_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, std::set<std::string>> partitions_;
  std::map<std::string, std::set<std::string>> leaves_;
  std::map<std::string, std::vector<std::string>> switches_;  // switch → its children
  std::vector<std::pair<std::string, std::string>> blocks_;   // name, host list
};

}  // namespace espalier::sim
