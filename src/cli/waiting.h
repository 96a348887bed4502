// Shared by the commands that start something long.
#pragma once

#include <string>

#include "cli/actions.h"
#include "cli/follow.h"

namespace espalier::cli {

// Prints the answer with --json, else `said`; then, if asked for, watches the cluster to the goal and says how long it
// took.
Result<void> finish(Context& context, const json::object& answer, const std::string& said, const std::string& cluster,
                    Goal goal, const WaitOptions& wait);

}  // namespace espalier::cli
