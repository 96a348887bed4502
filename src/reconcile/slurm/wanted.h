// What slurmctld should be told: every slot declared, every partition, the topology. A function of the state.
#pragma once

#include "model/cluster.h"
#include "slurm/files.h"
#include "slurm/hostlist.h"
#include "topology/plan.h"

namespace espalier::reconcile {

struct SlurmWanted {
  SlurmApplied target;  // files and partitions; revision and times are not set
  topology::Plan plan;
};

SlurmWanted slurm_wanted(const ClusterState& state);

}  // namespace espalier::reconcile
