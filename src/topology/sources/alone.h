// A topology for a Slurm that Espalier did not create: positions by node name, nothing known of types and groups. Pure.
#pragma once

#include "topology/cluster_plan.h"
#include "topology/sources/source.h"

namespace espalier::topology {

struct AloneRequest {
  std::vector<std::string> nodes = {};  // all that Slurm has; none: those with a position
  Positions positions = {};
  Positions kept = {};  // of nodes that no source knows: where a topology file of the user's has them
  Preference preference = Preference::automatic;
  slurm::Version version = slurm::kOwnImage;
  int base_size = kNominalBlock;
};

// automatic: blocks when every node with a place has an NVLink domain, else a tree over all; flat when nobody has one.
// Positions of machines that Slurm does not have are left out.
ClusterPlan plan_alone(const AloneRequest& request, Memory& memory);

// Where a topology file has its nodes: switches written by hand, for on-prem nodes beside those of a cloud. What we put
// there ourselves (the common root, the leaves of nodes without a place) is nobody's wish.
Result<Positions> kept_positions(std::string_view file);

}  // namespace espalier::topology
