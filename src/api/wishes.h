// From a validated CreateCluster or UpdateCluster request to what the core is asked for.
#pragma once

#include "api/auth.h"
#include "reconcile/wish.h"

namespace espalier::api {

reconcile::ClusterWish cluster_wish(const Caller& caller, const json::object& input);
reconcile::ClusterChange cluster_change(const json::object& input);

}  // namespace espalier::api
