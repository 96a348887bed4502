// The simulated world in the pace of the clock, or so many times faster, with requests that come from outside: what
// `serve --provider sim` runs. Production code and models live on the one thread that calls live().
//
// The cloud ends with the process: a control plane that finds clusters in its store learns that their machines have
// ended, and launches others.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "provider/sim/capacity_model.h"
#include "simulate/seats.h"
#include "simulation.h"

namespace espalier::simulate {

class RealTime {
 public:
  struct Given {
    store::Store& store;  // outlives it
    sim::FabricModel fabric;
    std::unique_ptr<sim::CapacityModel> pools;
    int speed = 1;
    reconcile::Settings reconcile;
    std::function<api::Services(engine::Engine&, Capacity&)> services;
  };

  explicit RealTime(Given given);
  ~RealTime();
  RealTime(const RealTime&) = delete;
  RealTime& operator=(const RealTime&) = delete;

  // Until stop(). kInternal: something that must never happen has.
  Result<void> live();
  // ---- from any thread ----
  void handle(http::Request request, http::Reply reply);
  void stop();

 private:
  class Pools;

  sim::Options options();
  void tell_of_ended_machines();
  [[nodiscard]] Time virtual_now() const;
  [[nodiscard]] std::chrono::steady_clock::time_point real(Time time) const;

  const Given given_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const Time start_;
  Seats seats_;
  std::unique_ptr<Pools> pools_;
  sim::Simulation world_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> posted_;
  bool stopped_ = false;
};

}  // namespace espalier::simulate
