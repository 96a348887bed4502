// The user of a life: has one cluster, created one way or the other, and changes it. When it could not be had all at
// once and went back, the user deletes what is left and tries again after a while.
#pragma once

#include <map>
#include <string>

#include "simulate/scenario.h"
#include "simulation.h"

namespace espalier::simulate {

inline constexpr const char* kCluster = "sim";  // its name

class Tenant {
 public:
  Tenant(const Scenario& scenario, bool continuous, sim::Simulation& world);

  // Looks at the cluster and asks for what is to be otherwise. To be called every few seconds.
  void act();
  void wish(const std::string& group, int count) { wishes_[group] = count; }

  // Jobs may be submitted: the cluster has been created, all of it where it is all or nothing.
  [[nodiscard]] bool may_submit() const;
  // Why it cannot be had at all; "" while it can.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] int creations() const { return creations_; }
  [[nodiscard]] int failed_creations() const { return failed_creations_; }

 private:
  void create();
  void update();
  void remove_after_failure();
  void ask(const std::string& operation, json::object body, std::function<void()> done);
  [[nodiscard]] bool differs(const ClusterState& state) const;
  [[nodiscard]] json::array groups() const;
  [[nodiscard]] Time now() const { return world_.nature().now(); }

  const Scenario& scenario_;
  const bool continuous_;
  sim::Simulation& world_;
  std::map<std::string, int> wishes_;  // group → nodes
  bool asking_ = false;
  bool updated_ = false;       // the last update was accepted
  bool failure_seen_ = false;  // of the cluster that there is
  Time not_before_{};
  std::string refusal_;
  int creations_ = 0;
  int failed_creations_ = 0;
};

}  // namespace espalier::simulate
