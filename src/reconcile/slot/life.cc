#include "reconcile/slot/life.h"

#include <algorithm>
#include <array>

namespace espalier::reconcile {

namespace {

using enum SlotState;

constexpr auto kLife = std::to_array<Edge>({
    {Wanted, Cause::kTurn, Launching},
    {Wanted, Cause::kUnwanted, Gone},
    // A launch is never abandoned: its answer decides whether there is a machine to terminate.
    {Launching, Cause::kLaunched, Booting},
    {Launching, Cause::kFailed, Backoff},
    {Launching, Cause::kUnwanted, Launching},
    {Booting, Cause::kEnrolled, Configuring},
    {Booting, Cause::kLost, Terminating},
    {Booting, Cause::kReplaced, Terminating},
    {Booting, Cause::kUnwanted, Terminating},
    {Configuring, Cause::kConfigured, Joining},
    {Configuring, Cause::kLost, Terminating},
    {Configuring, Cause::kReplaced, Terminating},
    {Configuring, Cause::kRebooted, Booting},
    {Configuring, Cause::kUnwanted, Terminating},
    {Joining, Cause::kAdmitted, Ready},
    {Joining, Cause::kToCheck, Checking},
    {Joining, Cause::kLost, Terminating},
    {Joining, Cause::kReplaced, Draining},
    {Joining, Cause::kRebooted, Booting},
    {Joining, Cause::kUnwanted, Draining},
    {Ready, Cause::kToCheck, Checking},
    {Ready, Cause::kForgotten, Joining},
    {Ready, Cause::kLost, Terminating},
    {Ready, Cause::kReplaced, Draining},
    {Ready, Cause::kRebooted, Booting},
    {Ready, Cause::kUnwanted, Draining},
    {Checking, Cause::kChecked, Joining},
    {Checking, Cause::kLost, Terminating},
    {Checking, Cause::kReplaced, Draining},
    {Checking, Cause::kRebooted, Booting},
    {Checking, Cause::kUnwanted, Draining},
    {Draining, Cause::kDrained, Terminating},
    {Draining, Cause::kLost, Terminating},
    {Draining, Cause::kRebooted, Booting},
    {Draining, Cause::kUnwanted, Draining},
    {Terminating, Cause::kTerminated, Backoff},
    {Terminating, Cause::kUnwanted, Terminating},
    {Backoff, Cause::kRetry, Launching},
    // The answer to a launch that was given up comes after all.
    {Backoff, Cause::kLaunched, Booting},
    {Backoff, Cause::kUnwanted, Gone},
});

}  // namespace

std::span<const Edge> life() { return kLife; }

std::optional<SlotState> next(SlotState from, Cause cause) {
  const auto found = std::ranges::find_if(kLife, [&](const Edge& e) { return e.from == from && e.cause == cause; });
  if (found == kLife.end()) return std::nullopt;
  return found->to;
}

std::optional<Millis> deadline(SlotState state, const Deadlines& deadlines) {
  switch (state) {
    case Booting:
      return deadlines.booting;
    case Configuring:
      return deadlines.configuring;
    case Joining:
      return deadlines.joining;
    default:
      return std::nullopt;  // the others end by an answer that always comes, or wait for the user or for jobs
  }
}

}  // namespace espalier::reconcile
