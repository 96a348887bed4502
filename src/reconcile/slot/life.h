// A slot's life as one table: which state follows which, for what cause, and how long each may last.
//
// A test walks every row; docs/guide/life.md is drawn from it. An edge that is not in the table is never taken: the
// slot stays, and the refusal is counted and logged.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "model/names.h"

namespace espalier::reconcile {

// Why a slot moves on.
enum class Cause {
  kTurn,        // its turn has come: the controller is up, nothing holds it back
  kLaunched,    // the provider gave a machine
  kFailed,      // launch failed: no machine came of it
  kEnrolled,    // the machine's agent has enrolled
  kConfigured,  // the machine is set up, its daemons run
  kAdmitted,    // Slurm may use the node: registered, placed, IDLE
  kToCheck,     // a deep health check was asked for, or its group wants one of every new machine
  kChecked,     // it has ended: Slurm may use the node again
  kForgotten,   // slurmctld no longer knows that the node may be used: it has to join again
  kLost,        // the machine ended, or missed a deadline: it has to go and another must come
  kReplaced,    // the slot is to get another machine
  kRebooted,    // its machine is to be rebooted now, and to join again
  kUnwanted,    // the user wants fewer
  kDrained,     // no job is left on it
  kTerminated,  // the provider says that the machine is gone
  kRetry,       // the delay is over
};
BOOST_DESCRIBE_ENUM(Cause, kTurn, kLaunched, kFailed, kEnrolled, kConfigured, kAdmitted, kToCheck, kChecked, kForgotten,
                    kLost, kReplaced, kRebooted, kUnwanted, kDrained, kTerminated, kRetry)

struct Edge {
  SlotState from;
  Cause cause;
  SlotState to;
};

std::span<const Edge> life();
// The state that follows, or nothing when the table has no such edge.
std::optional<SlotState> next(SlotState from, Cause cause);

// The machine has been set up, and is kept up to date: its hosts, its NVLink domain's list.
inline constexpr std::array kSetUp = {SlotState::Joining, SlotState::Ready, SlotState::Checking, SlotState::Draining};
inline bool is_set_up(SlotState state) { return std::ranges::find(kSetUp, state) != kSetUp.end(); }

// How long a slot may stay in a state before it counts as lost; none: it may wait for ever.
struct Deadlines {
  Millis booting{5 * 60'000};
  Millis configuring{10 * 60'000};
  Millis joining{5 * 60'000};
};
std::optional<Millis> deadline(SlotState state, const Deadlines& deadlines);

}  // namespace espalier::reconcile
