// Whose fault it is, from what all machines of a deep health check say of themselves and of each other. Pure.
//
// A machine's own findings count as they are. That a node could not be reached says nothing alone: a node that fails
// with most of those it has to do with is at fault, and what failed with it is no fault of the others. A pair of nodes
// that are well otherwise keeps both from jobs until somebody has looked. Where most nodes fail it is the network, and
// no machine is replaced for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/check.h"

namespace espalier::reconcile {

struct Judgement {
  CheckVerdict verdict = CheckVerdict::NotChecked;
  std::string reason;
};

// By node name. One that did not answer has no findings.
std::map<std::string, Judgement> judge(const std::map<std::string, std::vector<CheckFinding>>& answers);

}  // namespace espalier::reconcile
