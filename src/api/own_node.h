// A node as Espalier's own operations show it, with what HyperPod hides.
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "engine/clusters.h"

namespace espalier::api {

// `leaves`: of the plan, by node name.
json::object own_node(const engine::View& view, const Group& group, const Slot& slot,
                      const std::map<std::string, std::string>& leaves);

}  // namespace espalier::api
