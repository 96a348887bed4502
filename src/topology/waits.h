// Why a job waits, and what would run now: from what it asks, what its nodes are doing, and the topology. Pure.
//
// What slurmctld would decide is not computed here; what is said to be impossible is, and what is said to run would
// find its nodes idle and close enough.
#pragma once

#include <string>
#include <vector>

#include "slurm/job.h"
#include "topology/plan.h"

namespace espalier::topology {

struct NodeNow {
  enum class Is { idle, busy, coming, out };
  std::string name;
  Is is = Is::idle;
  std::string why;  // of what is coming or out: "Booting: its agent has not enrolled"
};

struct Wait {
  std::vector<std::string> because;
  std::vector<std::string> would_run;  // options of sbatch, instead of its own
};

// plan: the topology of its partition; nodes: all of its partition.
Wait explain_wait(const slurm::Job& job, const Plan& plan, const std::vector<NodeNow>& nodes);

}  // namespace espalier::topology
