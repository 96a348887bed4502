// A cloud that remembers: pools with a bound, machines with positions and addresses, idempotency keys, tags.
//
// Its methods happen at once and are the truth; that calls take time, fail or lie is the business of the line to it
// (provider_line.h). What a caller must never do it reports to Nature.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/launch.h"
#include "nature.h"
#include "provider/sim/capacity_model.h"

namespace espalier::sim {

// Releases of the machines' software, the newest first.
inline constexpr std::array<const char*, 2> kImages{"ami-0000000000000002", "ami-0000000000000001"};

class Cloud {
 public:
  struct Made {
    ProvidedMachine provided;
    LaunchRequest request;
    Time made{};
    std::optional<Time> ended;  // died, or was terminated
    bool died = false;          // by itself
    bool terminated = false;
    int seat = 0;
  };

  explicit Cloud(Nature& nature) : nature_(nature) {}

  LaunchOutcome launch(const LaunchRequest& request);
  Result<void> terminate(const MachineId& id);
  // It starts anew.
  Result<void> reboot(const MachineId& id);
  // As it was `lag` ago.
  [[nodiscard]] std::vector<ProvidedMachine> list(const ClusterId& cluster, Millis lag) const;
  void remove_volumes(const ClusterId& cluster);
  // It ends by itself.
  void die(const MachineId& id);

  // As EC2 does: `burst` launches at once, then `per_second`; more are throttled.
  void set_bucket(double burst, double per_second);
  // Takes a token of the bucket; false when there is none.
  bool lets_launch();
  // What there is, how long a launch takes beyond a call's time and what fails, in place of set_capacity().
  void set_pools(const CapacityModel* pools) { pools_ = pools; }
  [[nodiscard]] Millis launch_time(const std::string& instance_type) const {
    return pools_ == nullptr ? Millis(0) : pools_->pool(instance_type).launch_time;
  }
  // Machines have the numbers after this one.
  void number_from(std::uint64_t number) { first_ = number; }
  // nullopt: no bound.
  void set_capacity(const std::string& instance_type, std::optional<int> machines);
  [[nodiscard]] bool is_bounded(const std::string& instance_type) const { return capacity_.contains(instance_type); }
  // Of a pool that has a bound.
  [[nodiscard]] int capacity(const std::string& instance_type) const { return capacity_.at(instance_type); }
  [[nodiscard]] int running(const std::string& instance_type) const;
  [[nodiscard]] bool alive(const MachineId& id) const;
  [[nodiscard]] const Made* find(const MachineId& id) const;
  [[nodiscard]] const Made* made_by(const std::string& key) const;
  // Those that run.
  [[nodiscard]] std::vector<const Made*> all_alive() const;
  // All that there ever were.
  [[nodiscard]] const std::map<MachineId, Made>& machines() const { return machines_; }
  [[nodiscard]] std::int64_t made_count() const { return static_cast<std::int64_t>(machines_.size()); }

  // Where the n-th seat of a type hangs; without it the fabric is a regular one.
  std::function<Position(const std::string& instance_type, int seat)> position_of_seat;
  std::set<std::string> hanging;  // instance types of which a launch is not answered for a day

  std::function<void(const Made&)> on_made;  // it begins to boot
  std::function<void(const Made&)> on_reboot;
  std::function<void(const Made&)> on_died;        // by itself
  std::function<void(const Made&)> on_terminated;  // it and all that it had are gone

 private:
  ProvidedMachine make(const LaunchRequest& request);
  Position position(const std::string& instance_type, int seat) const;
  std::string free_address();
  void end(Made& made);

  Nature& nature_;
  std::map<MachineId, Made> machines_;
  std::map<std::string, MachineId> by_key_;
  std::map<SlotId, MachineId> alive_of_slot_;
  std::map<std::string, int> running_;   // instance type → machines
  std::map<std::string, int> capacity_;  // instance type → bound
  std::map<std::string, std::vector<int>> free_seats_;
  std::map<std::string, int> seats_;
  struct Bucket {
    double most = 0;
    double per_second = 0;
    double tokens = 0;
    Time filled{};
  };
  std::optional<Bucket> bucket_;
  std::vector<std::string> free_addresses_;
  int addresses_ = 0;
  const CapacityModel* pools_ = nullptr;
  std::uint64_t first_ = 0;
};

}  // namespace espalier::sim
