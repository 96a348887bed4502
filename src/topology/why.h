// Why a node is where it is, for people. Pure.
#pragma once

#include <string>
#include <vector>

#include "topology/cluster_plan.h"

namespace espalier::topology {

// One sentence for each topology that has the node: "tree: on leaf nn-7, where its machine hangs (nn-1 / nn-4 / nn-7)".
std::vector<std::string> why_there(const ClusterPlan& plan, const Member& member);

}  // namespace espalier::topology
