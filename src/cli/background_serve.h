// A control plane in the background: started by `espalier up`, stopped by `espalier down`.
//
// <state>/serve.json holds its ProcessRecord (pid, start time and boot, so that a reused pid is never signalled),
// <state>/serve.log what it wrote.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/serve_options.h"
#include "cli/wire.h"

namespace espalier::cli {

// What answers at the endpoint. kUnavailable: nothing does.
Result<wire::Service> describe_service(Context& context);

// kConflict: what answers is not the control plane of this state folder.
Result<void> check_state(const Context& context, const wire::Service& service, const std::string& state);

// Starts `program serve …` in a session of its own and returns when it answers at the endpoint. When it ends instead,
// the error has the last lines of its log. kTimeout: it runs, but did not answer within 30 s.
Result<wire::Service> start_serve(Context& context, const std::string& program, const ServeOptions& options);

// SIGTERM, then waits for its end. False: no process of ours is recorded or it has ended before. kTimeout after 60 s.
Result<bool> stop_serve(const std::string& state);

}  // namespace espalier::cli
