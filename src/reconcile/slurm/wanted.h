// What slurmctld should be told: every slot declared, every partition, the topologies. A function of the state, and of
// what slurmctld shows: it must not lose a leaf that a node is still on.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "model/cluster.h"
#include "slurm/files.h"
#include "slurm/hostlist.h"
#include "topology/compare.h"

namespace espalier::reconcile {

struct SlurmWanted {
  SlurmApplied target;  // files, partitions, blocks; revision and times are not set
  topology::ClusterPlan plan;
  std::map<std::string, std::string> places;       // of the plan, see topology::places
  std::unordered_map<SlotId, MachineId> machines;  // whose positions it was made from
};

SlurmWanted slurm_wanted(const ClusterState& state, const std::vector<topology::Shown>& shown);
// Of the controller; until it has said: that of our own image.
slurm::Version slurm_version(const SlurmApplied& slurm);

}  // namespace espalier::reconcile
