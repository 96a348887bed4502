// A cluster's tags: kept in its spec as CreateCluster has them, a list of Key and Value.
#pragma once

#include <map>
#include <string>

#include "reconcile/wish.h"

namespace espalier::reconcile {

using Tags = std::map<std::string, std::string>;

inline constexpr std::size_t kMostTags = 50;  // of one resource

Tags tags_of(const json::object& spec);
json::array to_wire(const Tags& tags);
// Those of `spec` after the change. kLimit when they would be too many.
Result<Tags> changed_tags(const json::object& spec, const ClusterChange& change);

}  // namespace espalier::reconcile
