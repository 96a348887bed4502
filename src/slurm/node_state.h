// What slurmctld says of a node, as a decision needs it. Every combination of flags maps to an answer; unknown is busy.
#pragma once

#include <string_view>

namespace espalier::slurm {

struct NodeFacts {
  bool registered = false;  // a slurmd has registered since it was last powered down (no "~")
  bool down = false;
  bool idle = false;       // no job, and slurmctld gives it one when asked; also while reserved or planned
  bool busy = true;        // has or may have jobs: allocated, mixed, completing, draining, or not understood
  bool draining = false;   // any drain flag
  bool failing = false;    // fail, failg
  bool responding = true;  // no "*"
};

// state: sinfo -o %T, such as "idle", "down~", "mixed*", "draining@"; or State= of `scontrol show node`, such as
// "DOWN+CLOUD+POWERED_DOWN". Upper and lower case are the same.
NodeFacts read_state(std::string_view state);

}  // namespace espalier::slurm
