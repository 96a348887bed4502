// What slurmctld should be told: every slot declared, every partition, the topologies. A function of the state, and of
// what slurmctld shows: it must not lose a leaf that a node is still on.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/cluster.h"
#include "slurm/files.h"
#include "slurm/hostlist.h"
#include "topology/compare.h"
#include "topology/patch.h"

namespace espalier::reconcile {

struct SlurmWanted {
  SlurmApplied target;  // files, partitions, blocks; revision and times are not set
  topology::ClusterPlan plan;
  std::map<std::string, std::string> places;         // of the plan, see topology::places
  std::unordered_map<SlotId, MachineId> machines;    // whose positions it was made from
  std::unordered_set<SlotId> other_releases;         // slots whose machine has another Slurm than the controller
  std::shared_ptr<const topology::Request> request;  // that the plan was made of
};

// A slot as the planner sees it.
topology::Member member_of(const Slot& slot);
SlurmWanted slurm_wanted(const ClusterState& state, const std::vector<topology::Shown>& shown);
// Brings it up to date after the machines of these compute slots came, went or were located. False: it must be made
// anew, and is of no use any more.
bool patch_wanted(const ClusterState& state, const std::set<SlotId>& moved, topology::Patcher& patcher,
                  SlurmWanted& wanted);
// The slot's machine reads slurm.conf, and with another release of Slurm than the controller's. Where one of the two
// has not said what it has, their images are compared.
bool has_other_release(const Slot& slot, const Slot& controller);
// Of the controller; until it has said: that of our own image.
slurm::Version slurm_version(const SlurmApplied& slurm);

}  // namespace espalier::reconcile
