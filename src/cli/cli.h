// The command line: the front door of this room. main() passes what runs the control plane and what simulates one, so
// that cli/ knows the engine only by HTTP.
#pragma once

#include <functional>
#include <string>

#include "cli/context.h"
#include "cli/serve_options.h"
#include "cli/simulate_options.h"

namespace espalier::cli {

// Runs the control plane until it is told to stop; returns the exit code.
using ServeFunction = std::function<int(const ServeOptions&)>;
// Lives a scenario and prints what came of it.
using SimulateFunction = std::function<Result<void>(Context&, const SimulateOptions&)>;

// `version` is this program's, for --version. Parses, runs the command, prints its outcome. Returns the exit code (see
// exit_code.h).
int run(int argc, char** argv, const std::string& version, const ServeFunction& serve,
        const SimulateFunction& simulate);

}  // namespace espalier::cli
