// What slurmctld should be told: every slot declared, every partition, the topology. A function of the state.
#pragma once

#include <map>
#include <unordered_map>

#include "model/cluster.h"
#include "slurm/files.h"
#include "slurm/hostlist.h"
#include "topology/plan.h"

namespace espalier::reconcile {

struct SlurmWanted {
  SlurmApplied target;  // files and partitions; revision and times are not set
  topology::Plan plan;
  std::map<std::string, std::string> leaves;       // of the plan
  std::unordered_map<SlotId, MachineId> machines;  // whose positions it was made from
};

SlurmWanted slurm_wanted(const ClusterState& state);

}  // namespace espalier::reconcile
