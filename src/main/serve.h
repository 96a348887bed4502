// `espalier serve`: puts the rooms together and runs them until a signal.
#pragma once

#include "cli/serve_options.h"

namespace espalier {

// Returns the exit code: 0 after SIGTERM or SIGINT, 1 when it cannot start (said on standard error).
int serve(const cli::ServeOptions& options);

}  // namespace espalier
