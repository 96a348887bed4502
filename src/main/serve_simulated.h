// `espalier serve --provider sim`: the API behind real doors, machines, agents and Slurm as models in the pace of the
// clock. No root, no image; thousands of nodes on a laptop.
#pragma once

#include <signal.h>

#include "base/result.h"
#include "cli/serve_options.h"

namespace espalier {

// Returns after one of these signals, which must be blocked.
Result<void> serve_simulated(const cli::ServeOptions& options, const sigset_t& ending);

}  // namespace espalier
