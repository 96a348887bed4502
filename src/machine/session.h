// A command of `espalier ssh` on its way: its own session, our terminal and signals passed on, nothing left behind.
#pragma once

#include <functional>

namespace espalier::machine {

// Forks and calls `child` in the new process, which must not return, in a session of its own; waits for its end and
// gives its exit status, 128 + signal when a signal ended it. SIGINT, SIGQUIT, SIGTERM and SIGHUP that we get are its
// own. When our parent ends, so does the whole session: by SIGHUP, after a second by SIGKILL.
//
// Where our standard input and output are a terminal, the child gets one of /dev/ptmx, as that is seen here and now: a
// terminal of the host has no name in a machine. `owner` and group 5 (tty) may open it again.
int run_session(const std::function<void()>& child, unsigned owner);

}  // namespace espalier::machine
