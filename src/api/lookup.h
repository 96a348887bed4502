// Finds the cluster that a request names and reads it.
#pragma once

#include "api/operations.h"

namespace espalier::api {

// ClusterName of the request: a name or an ARN. kNotFound.
Result<ClusterId> find_cluster(const Services& services, const Call& call);
// Finds and reads it; `make` sees a consistent view for the time of its call.
Result<json::object> read_cluster(const Services& services, const Call& call,
                                  const std::function<Result<json::object>(const engine::View&)>& make);
// The slot that the request names by its NodeName, NodeId or NodeLogicalId. kNotFound.
Result<const Slot*> find_node(const engine::View& view, const json::object& input);
// Empty when it is not known.
std::string newest_image(const Services& services);
// A copy of its row.
Result<Cluster> cluster_row(const Services& services, const ClusterId& id);

}  // namespace espalier::api
