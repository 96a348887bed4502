// Members in the natural order of their names, each name once: the first member of a name counts.
#pragma once

#include <vector>

#include "topology/plan.h"

namespace espalier::topology {

std::vector<const Member*> in_order(const std::vector<Member>& members);

}  // namespace espalier::topology
