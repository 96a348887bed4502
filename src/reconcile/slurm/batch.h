// The one command at a time to slurmctld: what is to be said next, and what its answer means.
//
// Decisions are made from what was read back, not from what was sent: a batch that failed or was lost is simply decided
// again. Orders on single nodes go before files, so that a file that slurmctld refuses holds up nobody.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

void decide_batch(Work& work);
void on_batch_done(Work& work, const agent::CommandResult& result);
// Tells the controller's agent which nodes to look at closely, when that changed.
void update_watch(Work& work);

}  // namespace espalier::reconcile
