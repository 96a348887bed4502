// From our state to the structures of the wire. Pure.
#pragma once

#include "model/cluster.h"
#include "reconcile/index.h"
#include "reconcile/status.h"

namespace espalier::api {

json::object cluster_summary(const Cluster& cluster);
// ClusterImageVersionStatus of all its machines that are up; "": there are none, or the provider knows no releases.
std::string image_version_status(const reconcile::Index& index, const std::string& newest_image);
// DescribeClusterResponse: groups in the order of their creation, the controller first among equals.
json::object cluster_details(const ClusterState& state, const reconcile::Index& index, const std::string& newest_image);

// How a slot's state shows as InstanceStatus: on its way up Pending, between attempts Failure, Ready and Draining
// Running, and ShuttingDown once it is not wanted any more, whatever its state.
using reconcile::instance_status;
// When its machine was launched, or the slot was made while it has none: what lists are sorted by.
json::object node_summary(const ClusterState& state, const Slot& slot, const std::string& newest_image,
                          bool with_logical_id);
json::object node_details(const ClusterState& state, const Slot& slot, const std::string& newest_image);

json::object event_summary(const Cluster& cluster, const Event& event);
// With EventDetails.EventMetadata.
json::object event_detail(const Cluster& cluster, const Event& event);

// The FailureMessage of an event's metadata; "" when it has none.
std::string failure_message_of(const Event& event);

}  // namespace espalier::api
