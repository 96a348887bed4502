// Watching a cluster until it is what was asked for.
#pragma once

#include <optional>
#include <string>

#include "cli/context.h"

namespace espalier::cli {

enum class Goal {
  kGrown,  // in service and every group complete
  kGone,   // deleted
};

struct FollowOptions {
  Goal goal = Goal::kGrown;
  std::optional<Millis> timeout;  // absent: for ever
};

// Shows progress (redrawn on a terminal, lines with times otherwise, nothing with --json) and returns when the goal is
// reached. It waits by long polls for events, so it is as fast as the cluster. A control plane that does not answer is
// asked again for a minute: it may be starting anew. kTimeout; kConflict when the cluster failed; kNotFound.
// Ctrl-C ends the program with a word on how to go on: what was asked for goes on without us.
Result<void> follow(Context& context, const std::string& cluster, const FollowOptions& options);

}  // namespace espalier::cli
