// `espalier simulate`: the front door of this room.
#pragma once

#include "cli/context.h"
#include "cli/simulate_options.h"

namespace espalier::simulate {

// Reads the scenario, lives it, prints the report and writes the plot. kInvalid: the scenario, or what it asks for, is
// wrong.
Result<void> simulate(cli::Context& context, const cli::SimulateOptions& options);

}  // namespace espalier::simulate
