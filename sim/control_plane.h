// One run of the control plane's process: the production engine, agent hub and API on a store, from its start to the
// crash that drops them all.
#pragma once

#include <memory>
#include <optional>

#include "api/api.h"
#include "checks.h"
#include "engine/engine.h"
#include "memory_disk.h"
#include "network.h"
#include "process.h"

namespace espalier::sim {

// How long a provider's calls take, from – to.
struct CallPace {
  Millis launch_from{100}, launch_to{2'500};
  Millis other_from{5}, other_to{200};
  std::size_t launch_threads = 512;
  std::size_t other_threads = 16;
  bool at_once = false;  // no time, no fibers: for benchmarks
};

// What a control plane has done, for benchmarks.
struct Counters {
  std::int64_t launches = 0;
  std::int64_t terminations = 0;
  std::int64_t lists = 0;
  std::vector<double> step_seconds;  // of every task of an actor, in real time
};

class ControlPlane {
 public:
  struct Given {
    Nature& nature;
    Cloud& cloud;
    Checks& checks;
    store::Store& disk;
    MemoryDisk* memory_disk;  // under it; null: the store is memory
    const CallPace& pace;
    Counters* counters;  // null: nothing is counted
    engine::Settings settings;
    engine::AgentPace agents;
    Millis clock_skew{0};
    std::string boot;
    std::function<api::Services(engine::Engine&)>
        services;  // what the API works with; null: with nothing but the engine
  };

  explicit ControlPlane(Given given);
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  Result<void> start();
  void handle(Door door, http::Request request, http::Reply reply);
  // What the provider tells without being asked: this machine has ended.
  void tell_exit(const ProvidedMachine& machine);
  // The host's clock is set, to so much ahead of the truth.
  void set_clock(Millis skew);
  void capacity_changed() { engine_.capacity_changed(); }
  [[nodiscard]] bool alive() const { return life_->alive; }
  // Nothing of it has an effect from now on. The object may go once none of its code is on the stack.
  void die(const char* where);
  engine::Engine& engine() { return engine_; }

 private:
  class Line;
  class Scripts;
  class Disk;

  const Given given_;
  const LifePtr life_ = std::make_shared<Life>();
  ProcessClock clock_;
  ProcessTimers timers_;
  ProcessExecutor steps_;
  ProcessExecutor calls_at_once_;
  CallExecutor calls_;
  CallExecutor launches_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<Line> line_;
  std::unique_ptr<Scripts> scripts_;
  engine::AgentHub hub_;
  engine::Engine engine_;
  api::Api api_;
};

}  // namespace espalier::sim
