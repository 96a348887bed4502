// A topology given to a running Slurm, and taken back when slurmctld does not have it afterwards.
#pragma once

#include <string>
#include <vector>

#include "cli/topology_slurm.h"
#include "topology/cluster_plan.h"

namespace espalier::cli {

enum class Outcome { unchanged, moved, reconfigured };

struct Applied {
  Outcome outcome = Outcome::unchanged;
  std::vector<std::string> changes;  // what slurmctld had otherwise
};

// Compare, check, write beside and rename, move or reconfigure, read back. On any failure the files that were there are
// put back and slurmctld is told again; the error says so. Needs the right to write Slurm's folder.
Result<Applied> apply(const topology::ClusterPlan& plan, const SlurmFacts& facts, LocalSlurm& slurm);

}  // namespace espalier::cli
