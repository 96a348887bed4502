// From a validated CreateCluster or UpdateCluster request to what the core is asked for.
#pragma once

#include "api/auth.h"
#include "base/result.h"
#include "reconcile/wish.h"

namespace espalier::api {

// kInvalid, all problems joined: the combinations of members that Espalier does not run, each with what to pass
// instead.
Result<reconcile::ClusterWish> cluster_wish(const Caller& caller, const json::object& input);
Result<reconcile::ClusterChange> cluster_change(const json::object& input);

}  // namespace espalier::api
