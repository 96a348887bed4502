// Does slurmctld have what was planned? And when it has not: what leads there. Pure.
#pragma once

#include <string>
#include <vector>

#include "topology/cluster_plan.h"
#include "topology/shown.h"

namespace espalier::topology {

// Node → where slurmctld has it, as places() of a plan says it.
std::map<std::string, std::string> places(const std::vector<Shown>& shown);

// Every difference, for people; none: slurmctld agrees. Switches and blocks without nodes do not count, nor the order
// of switches; the order of blocks does.
std::vector<std::string> differences(const ClusterPlan& plan, const std::vector<Shown>& shown);
// The same of two topologies alone.
std::vector<std::string> differences(const Plan& wanted, const Plan& shown);
// The same as an error that names the first few.
Result<void> compare(const ClusterPlan& plan, const std::vector<Shown>& shown);

// `scontrol update NodeName=<nodes> Topology=<topology>`. The list is always whole: what it leaves out, the node loses.
struct Move {
  std::string nodes;  // host list
  std::string topology;
  bool operator==(const Move&) const = default;
};

// How slurmctld gets from what it shows to the plan: moves, or a reconfigure that reads the file anew.
struct Steps {
  std::vector<Move> moves;
  std::string reconfigure;  // why one is needed; "": the moves are enough
};
// Never a move to where a node is: from 25.05 on that would take it out of block scheduling without a word.
Steps steps_to(const ClusterPlan& plan, const std::vector<Shown>& shown);

// Nodes whose place must be let go before slurmctld reads the plan's file, or it refuses to: it saves a place that was
// set live with the switches above it, and all of these must be in the file.
std::vector<std::string> lost_places(const ClusterPlan& plan, const std::vector<Shown>& shown);

// Leaves that slurmctld still has nodes on and the plan has none for stay in the file, empty, until the nodes have
// moved: a slurmctld that restarts in between would not start if a saved place were gone.
void keep_leaves_in_use(ClusterPlan& plan, const std::vector<Shown>& shown);

}  // namespace espalier::topology
