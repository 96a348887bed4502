// Why a slot is where it is, what is tried next and when: what `espalier explain` prints. Pure.
#pragma once

#include <optional>
#include <string>

#include "reconcile/step.h"

namespace espalier::reconcile {

struct Explanation {
  std::string because;          // why it is in its state
  std::string next;             // what is tried next
  std::optional<Time> next_at;  // when, where a time is set
};

Explanation explain(const ClusterState& state, const Observed& observed, const Settings& settings, const Slot& slot);
// When the next launch for a slot that has none goes out, where a time is set: its own delay, its pool's, its group's.
std::optional<Time> next_launch(const ClusterState& state, const Observed& observed, const Slot& slot);

}  // namespace espalier::reconcile
