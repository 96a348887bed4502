// Does slurmctld have the topology that is wanted? If not: what is missing, and since when. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconcile/step.h"

namespace espalier::reconcile {

struct TopologyTruth {
  bool holds = false;                 // slurmctld was seen to agree, and nothing is pending
  std::optional<Time> pending_since;  // where that is known
  std::vector<std::string> pending;   // what is missing and what is done about it, for people
};

TopologyTruth topology_truth(const ClusterState& state, const Observed& observed);

}  // namespace espalier::reconcile
