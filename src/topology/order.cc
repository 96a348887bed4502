#include "topology/order.h"

#include <algorithm>

#include "slurm/hostlist.h"

namespace espalier::topology {

Ordered in_order(const std::vector<Member>& members) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const auto& member : members) names.push_back(member.node_name);
  Ordered out;
  out.reserve(members.size());
  for (const auto at : slurm::natural_order(names))
    if (out.empty() || out.back()->node_name != members[at].node_name) out.push_back(&members[at]);
  return out;
}

}  // namespace espalier::topology
