// One cluster in a simulated world: virtual time, a cloud with pools, machines with agents, a Slurm controller.
//
// The production code of reconcile runs in it; the world carries out its effects with delays, and can drop the process
// before or after any effect or commit, as a crash would. Everything follows from the seed.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "reconcile/step.h"
#include "slurm.h"

namespace espalier::sim {

class World {
 public:
  World(std::uint64_t seed, const reconcile::ClusterWish& wish);

  // Runs until nothing is left to happen before `end`, or `until` holds. True when it holds.
  bool run(Millis length, const std::function<bool()>& until = [] { return false; });
  void change(const reconcile::ClusterChange& change);
  void remove();
  // A request on nodes; its answer is the last of `answers` when the next step has run.
  void ask(reconcile::Input request) { tell(std::move(request)); }
  void set_capacity(const std::string& instance_type, int machines);
  // slurmctld has restarted from an old state, and the controller's agent sees it.
  void slurm_forgets(const std::string& node);
  // The controller's agent looks at all nodes.
  void slurm_tells() { report_nodes(); }
  // The machine ends by itself.
  void kill(const MachineId& machine);
  // The process is dropped at its nth effect from now, before (or after) it is carried out.
  void crash_at(int nth, bool after);
  // Something is learned by the process that runs then.
  void hear(reconcile::Input input) { tell(std::move(input)); }

  [[nodiscard]] const ClusterState& state() const { return state_; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const Slot& slot(const std::string& node) const;
  [[nodiscard]] int ready(const std::string& group) const;
  [[nodiscard]] bool all_ready() const;
  [[nodiscard]] int live_machines() const;
  [[nodiscard]] bool gone() const { return gone_; }
  [[nodiscard]] std::vector<std::string> event_texts() const;

  Slurm slurm;
  reconcile::Settings settings;
  std::vector<Event> events;
  std::vector<Result<reconcile::UserAnswer>> answers;
  std::function<std::optional<LaunchFailure>(const LaunchRequest&)> launch_fault;  // of a launch that makes no machine
  bool terminations_fail = false;
  int extra_fails = 0;                              // so many writes of extra files, from now on
  std::set<std::string> never_boot;                 // instance types and images whose machines do not call
  std::map<std::string, int> launch_calls;          // instance type → calls
  std::map<std::string, Time> launched_at;          // node → when its first machine came
  std::vector<std::string> broken;                  // invariants that did not hold
  std::vector<std::string> reboots;                 // host names, in order
  Result<std::string> scripts = std::string("d1");  // what a fetch of lifecycle scripts gives
  std::function<std::string(const agent::Lifecycle&)> script_fault;  // how a script ends; "": well
  int script_runs = 0;
  std::map<std::string, CheckVerdict> verdicts;  // what nodes say of themselves in a deep health check; else Healthy
  std::set<std::string> unreachable;             // nodes that no other can reach then
  std::map<std::string, int> checks;             // node → checks that it was told of
  std::map<MachineId, std::map<std::string, std::string>> extra;  // files beside Slurm's, as they are on the machines
  int crashes = 0;
  int effects = 0;

 private:
  struct SimMachine {
    ProvidedMachine provided;
    bool alive = true;
    bool set_up = false;
    std::string credential;
    std::string token;
    std::string host_name;
    std::string instance_type;
    NodeType role = NodeType::Compute;
  };

  void after(Millis delay, std::function<void()> what);
  // A message to the process: lost when the process that asked is not the one that hears.
  void tell(reconcile::Input input);
  void tell_if_same_process(int process, reconcile::Input input);
  void step();
  void commit(const reconcile::Changes& changes);
  bool survives_effect();
  void restart();
  void carry_out(reconcile::Effect effect);
  void reboot(const MachineId& id, int process);
  void launch(const std::string& pool, const LaunchRequest& request, int process);
  void launch_answered(const std::string& pool, const LaunchRequest& request, int process, LaunchOutcome outcome);
  void hand_out();
  void boots(const MachineId& id);
  void enrolled(const MachineId& id, const std::string& credential);
  void command(const MachineId& id, const agent::Command& command);
  CheckFinding check_finding(CheckKind kind, const std::string& node, const agent::CheckOrder& order);
  void register_node(const MachineId& id, const std::string& node);
  void report_nodes();
  void check();

  Random random_;
  Time now_{Millis(1'800'000'000'000)};
  ClusterState state_;
  reconcile::Observed observed_;
  std::map<std::pair<Time, int>, std::function<void()>> queue_;
  int last_queued_ = 0;
  std::vector<reconcile::Input> inbox_;
  ClusterState disk_;  // the state as last committed
  int process_ = 1;
  int crash_in_ = 0;
  bool crash_after_ = false;
  bool gone_ = false;
  std::optional<Time> wake_;
  reconcile::Pools pools_;
  std::map<MachineId, SimMachine> machines_;
  std::map<std::string, MachineId> machine_of_key_;
  std::map<std::string, int> capacity_;
  std::map<std::int64_t, MachineId> enrol_calls_;
  std::int64_t last_call_ = 0;
  int last_address_ = 1;
};

}  // namespace espalier::sim
