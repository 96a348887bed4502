// A whole world from one seed: a control plane that may crash at any time, a cloud, machines with agents, Slurm
// controllers, users and admins; the faults that the seed chose, what must always hold and what must hold in the end.
//
// live() runs one such life. Tests and benchmarks can drive the parts themselves with run().
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "checks.h"
#include "cloud.h"
#include "control_plane.h"
#include "machine.h"
#include "memory_disk.h"
#include "network.h"
#include "user.h"

namespace espalier::sim {

struct Options {
  std::FILE* trace = nullptr;  // where the trace is printed
  bool sqlite = false;         // or a store that is nothing but memory
  std::string file;            // of the SQLite store, on a real disk; "": in memory
  Counters* counters = nullptr;
  bool checks = true;
  CallPace calls;
  MachinePace machines;
  Millis network_slowest{10};
  Millis ping_every{20'000};                            // slurmctld looks whether its nodes answer
  std::function<void(const store::Commit&)> committed;  // every change of what is on disk
  reconcile::Settings reconcile;
  // For a world behind real doors.
  Time start = kStart;
  bool own_log = true;            // log lines go to the trace
  store::Store* store = nullptr;  // in place of all others; outlives the world
  std::function<api::Services(engine::Engine&)> services;
};

// Of the life of this seed: every other one has SQLite.
Options life(std::uint64_t seed);

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed, Options options = {});
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // A life with the faults and the users that the seed chooses; then the faults stop, and everything that is wished
  // for has to come. False: something did not hold, broken() says what.
  bool live();

  // ---- by hand ----
  void start();
  // Runs until `until` holds, an invariant is broken or the time is over. True when it holds.
  bool run(Millis length, const std::function<bool()>& until = [] { return false; });
  // A request from outside, on this thread.
  void handle(http::Request request, http::Reply reply);
  void crash() {
    if (plane_) plane_->die("by hand");  // else it has ended already
  }
  // Asks and waits for the answer.
  std::pair<int, json::object> ask(const std::string& operation, const json::object& body);
  // The state on disk of the cluster with this name; nullptr when there is none.
  [[nodiscard]] const ClusterState* cluster(const std::string& name) const;
  [[nodiscard]] Slurm& slurm(const std::string& name);
  // nullptr: it has had no machine yet.
  [[nodiscard]] Slurm* slurm_of(const ClusterId& cluster);
  [[nodiscard]] int ready(const std::string& name, const std::string& group = "") const;
  // Every node of it is Ready, and Slurm may use it.
  [[nodiscard]] bool complete(const std::string& name) const;
  void kill(const std::string& cluster, const std::string& node);
  void set_capacity(const std::string& instance_type, std::optional<int> machines);

  Nature& nature() { return nature_; }
  Cloud& cloud() { return cloud_; }
  User& user() { return user_; }
  ControlPlane& control_plane() { return *plane_; }
  [[nodiscard]] const std::vector<std::string>& broken() const { return nature_.broken; }
  [[nodiscard]] std::uint64_t trace_hash() const { return nature_.trace.hash(); }
  [[nodiscard]] std::string faults() const { return chosen_.text(); }

 private:
  void open_disk();
  void close_disk();
  void bury();
  Millis any_skew();
  void machine_made(const Cloud::Made& made);
  void machine_died(const Cloud::Made& made);
  void machine_terminated(const Cloud::Made& made);
  void ping_nodes();

  // ---- what happens by chance ----
  void each_minute();
  void something_to_a_machine(Machine& machine);
  void dies_by_chance(const MachineId& id);
  void an_admin_acts(Slurm& slurm);
  void a_job_comes(Slurm& slurm);
  void jobs_come();
  void users_act();
  void pools_change();
  void faults_stop();
  void admins_lift();

  // ---- in the end ----
  bool settles();
  bool stays();
  bool goes();
  [[nodiscard]] bool all_is_well(std::string* why) const;
  [[nodiscard]] bool names_resolve(const ClusterState& state, std::string* why) const;
  [[nodiscard]] std::string in_slurm(const ClusterId& cluster, const std::string& node) const;
  void look_at_the_disk();

  const Options options_;
  Nature nature_;
  Cloud cloud_{nature_};
  std::map<ClusterId, Slurm> slurms_;
  Checks checks_{nature_, cloud_, slurms_, options_.checks};
  Network network_{nature_};
  User user_{nature_, network_};
  std::map<MachineId, std::shared_ptr<Machine>> machines_;
  std::unique_ptr<MemoryDisk> memory_disk_;
  std::unique_ptr<store::Store> disk_;
  std::unique_ptr<ControlPlane> plane_;
  int plane_runs_ = 0;
  Faults chosen_;
  bool chaos_ = false;
};

}  // namespace espalier::sim
