// A Slurm controller that remembers, for the simulation: the steps of agent/protocol.h on files, nodes, partitions and
// topology, with the rules of a real one that matter here (a node not in a partition gets no job, DOWN nodes stay DOWN
// when they register, a reconfigure takes the topology from the file, a refused file leaves all as it was).
//
// Its files and state outlive the machine that it runs on, as they do in production.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/protocol.h"
#include "model/cluster.h"

namespace espalier::sim {

class Slurm {
 public:
  struct Node {
    bool down = false;
    bool drain = false;
    bool fail = false;
    bool cloud = true;  // powered down: nothing has registered
    bool responding = true;
    bool dead = false;     // no slurmd runs there, whatever slurmctld believes: a job that it starts there fails anyway
    bool foreign = false;  // an admin has drained or downed it, and not by an order to us
    bool touched = false;  // the same, also when their reason was overwritten at the same moment
    std::optional<Time> known;  // since then the control plane has been told so
    Time lifted{};              // when an admin last opened it: an order may be under way that does not know
    bool lost = false;          // slurmctld has forgotten it: it is as its line declares it
    int jobs = 0;
    std::string address = "0.0.0.0";
    std::string reason;
  };
  struct Job {
    std::string partition;
    std::vector<std::string> nodes;
  };

  // ---- slurmctld ----
  // Its controller runs on a new machine: of the files nothing is left, its state is.
  void new_machine() { files_.clear(); }
  // What a setup does: the files are written; it starts with them, unless it runs, on whatever it finds of its state.
  void start(const std::vector<agent::ConfigFile>& files);
  void stop() { up_ = false; }
  [[nodiscard]] bool up() const { return up_; }
  // Keeps the state as it is, for a start from it later.
  void save() { saved_ = nodes_; }
  // Starts again from what was saved: what nodes have become since is forgotten, jobs go on.
  void start_from_saved();
  void start_again();

  // ---- machines ----
  // A slurmd calls from `address`; false when slurmctld is down or knows no such node.
  bool registers(const std::string& node, const std::string& address);
  // The machine of this node has ended: its jobs too. slurmctld notices later.
  void machine_dies(const std::string& node);
  // What slurmctld does with the jobs of a node that is no longer there.
  void machine_ends(const std::string& node);
  void notices_silence(const std::string& node, const std::string& address);
  // slurmctld starts again from a state in which the node was not admitted yet.
  void forget(const std::string& node);

  // ---- users and admins ----
  // On idle nodes of the partition that a job may use; 0 when there are not enough.
  int start_job(const std::string& partition, int nodes);
  void end_job(int job);
  std::vector<std::string> run_job(const std::string& partition, int nodes);
  void end_job(const std::vector<std::string>& nodes);
  // scontrol update by an admin: state "down", "fail" or "drain".
  void admin_sets(const std::string& node, const std::string& state, const std::string& reason);
  void admin_lifts(const std::string& node, Time now = {});
  // Writes a topology.conf of their own and reconfigures.
  void admin_writes_topology(const std::string& text);

  // ---- the control plane, through the controller's agent ----
  // The order was decided after `decided_after`: what was told before that had to be heeded.
  agent::CommandResult carry_out(const std::string& id, const std::vector<agent::SlurmStep>& steps,
                                 Time decided_after = Time::max());
  [[nodiscard]] std::vector<agent::NodeView> view() const;
  [[nodiscard]] agent::NodeView view(const std::string& node) const;
  // These were shown to it.
  void shown(const std::vector<agent::NodeView>& views, Time now);

  // Another one whenever a node may have changed.
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] bool usable(const std::string& node) const;
  [[nodiscard]] const std::map<std::string, Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& partitions() const { return partitions_; }
  [[nodiscard]] const std::map<int, Job>& jobs() const { return jobs_; }
  // The leaves of every node of the topology that is in force.
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& leaves() const { return leaves_; }

  std::set<std::string> refuse;                              // kinds of steps that fail, by name
  std::function<bool(const agent::SlurmStep&)> refuses_now;  // the same, by chance
  std::function<bool()> hides_node;                          // a node is not shown, by chance
  std::function<void(const std::string&)> violated = [](const std::string&) {};
  std::function<void(const Slurm&)> changed;  // after every order
  int reconfigures = 0;
  // Nodes that were in a partition and not DOWN before a machine of theirs had registered: a waiting job would hang.
  std::set<std::string> hostages;

 private:
  agent::SlurmStepResult one(const agent::SlurmStep& step);
  agent::SlurmStepResult update_nodes(const agent::SlurmStep& step);
  void update_node(const std::string& name, const agent::SlurmStep& step, const std::string& address);
  std::string node_lines(const std::string& hostlist) const;
  void read_files();
  void read_nodes();
  void read_partitions();
  void read_topology();
  void look_for_hostages();
  void let_go(const std::string& node);

  bool up_ = false;
  Time decided_after_ = Time::max();
  std::int64_t version_ = 1;
  std::map<std::string, std::string> files_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Node> saved_;
  std::map<std::string, std::set<std::string>> partitions_;
  std::set<std::string> closed_;  // partitions that are DOWN: no job starts there
  std::map<std::string, std::set<std::string>> leaves_;
  std::string topology_text_;  // as `scontrol show topology` prints it
  std::map<int, Job> jobs_;
  int last_job_ = 0;
};

}  // namespace espalier::sim
