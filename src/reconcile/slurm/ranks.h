// Ranks after live moves. Slurm ranks nodes by the topology when it reads its files, and never again: nodes that were
// moved since have the ranks of their names, and neighbouring ranks of a job would hang on different leaves.
//
// So a reconfigure follows the moves. It holds up no move: many cost one, and what it holds up is only the admission of
// those that were placed by them, whose slurmds start and register meanwhile.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

void note_moved(Work& work);
// slurmctld has read its files.
void note_ranked(Work& work);
// The nodes of these machines are in their places now.
void note_placed(Work& work, const SlurmWanted& wanted);

// Time for that reconfigure; else called again when it is.
bool ranks_are_due(Work& work, const topology::ClusterPlan& plan);
// No job can get the slot's node with a rank of before its move.
bool ranked(const Work& work, const Slot& slot);

}  // namespace espalier::reconcile
