// What goes wrong in a run, and how often. Each kind is on in some runs only and with another rate in each: runs in
// which everything fails at once find less than runs in which a few things fail often.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <string>

#include "base/random.h"

namespace espalier::sim {

enum class Fault {
  // The control plane.
  Crash,        // at an effect or a commit, before or after it
  PowerFails,   // in the middle of a commit: what was not flushed is lost
  StoreFails,   // a commit fails
  StoreSilent,  // a commit succeeds, and its answer is an error
  ClockJumps,   // its clock is set, when it starts and while it runs
  // Between it and the machines, and its users.
  RequestLost,
  AnswerLost,
  RequestTwice,
  SlowNetwork,
  // The cloud.
  LaunchFails,   // with a class that the seed chooses
  LaunchSilent,  // a machine comes, and the answer is an error
  Throttled,
  CallHangs,
  CallSlow,
  TerminateFails,
  TerminateSilent,
  ListFails,
  ListLags,       // a machine is listed, or is no longer listed, only after a while
  PositionLater,  // a machine has no position when it is launched, nor in some lists
  AddressLater,   // the same for its address
  AddressReused,  // an address is given again at once
  Shortage,       // pools shrink and grow
  // Machines.
  DiesYoung,   // while it boots
  DiesLater,   // at any time
  NeverBoots,  // its agent does not start
  AgentRestarts,
  SetupFails,
  NeverRegisters,  // its slurmd does not
  ClockSkew,       // its clock is off; by more than munge takes, it does not register
  // Slurm.
  SlurmRestarts,
  SlurmForgets,  // and starts from an old state
  SlurmPartial,  // not all nodes are shown
  StepRefused,   // a step of an order fails
  AdminActs,     // drains and downs nodes, and lifts what it did later
};
BOOST_DESCRIBE_ENUM(Fault, Crash, PowerFails, StoreFails, StoreSilent, ClockJumps, RequestLost, AnswerLost,
                    RequestTwice, SlowNetwork, LaunchFails, LaunchSilent, Throttled, CallHangs, CallSlow,
                    TerminateFails, TerminateSilent, ListFails, ListLags, PositionLater, AddressLater, AddressReused,
                    Shortage, DiesYoung, DiesLater, NeverBoots, AgentRestarts, SetupFails, NeverRegisters, ClockSkew,
                    SlurmRestarts, SlurmForgets, SlurmPartial, StepRefused, AdminActs)

class Faults {
 public:
  // Nothing fails.
  Faults() = default;
  static Faults from_seed(Random& random);

  [[nodiscard]] double rate(Fault fault) const { return rates_.at(static_cast<std::size_t>(fault)); }
  [[nodiscard]] bool on(Fault fault) const { return rate(fault) > 0; }
  void set(Fault fault, double rate) { rates_.at(static_cast<std::size_t>(fault)) = rate; }
  // "Crash 0.012, ListLags 0.3"
  [[nodiscard]] std::string text() const;

 private:
  std::array<double, static_cast<std::size_t>(Fault::AdminActs) + 1> rates_{};
};

}  // namespace espalier::sim
