// The words of the wire and of our own life cycle, spelled as they are spelled everywhere.
#pragma once

#include <boost/describe.hpp>

namespace espalier {

// Of the HyperPod API.
enum class ClusterStatus { Creating, Deleting, Failed, InService, RollingBack, SystemUpdating, Updating };
enum class GroupStatus { InService, Creating, Updating, Failed, Degraded, SystemUpdating, Deleting };
enum class InstanceStatus {
  Running,
  Failure,
  Pending,
  ShuttingDown,
  SystemUpdating,
  DeepHealthCheckInProgress,
  NotFound
};
enum class SoftwareUpdateStatus { Pending, InProgress, Succeeded, Failed, RollbackInProgress, RollbackComplete };
enum class NodeType { Controller, Login, Compute };
enum class EventLevel { Info, Warn, Error };
enum class ResourceType { Cluster, InstanceGroup, Instance };

// A slot's life. The edges and deadlines are in reconcile/slot/life.h.
enum class SlotState {
  Wanted,
  Launching,
  Booting,
  Configuring,
  Joining,
  Ready,
  Checking,
  Draining,
  Terminating,
  Backoff,
  Gone
};

// Facts about a slot beside its state.
enum class ConditionType { Launched, Booted, Configured, Registered, Placed, Healthy, Schedulable };

// Why a launch or a boot failed: decides the delay before the next try.
enum class FailureClass { None, Shortage, Quota, Throttling, WrongConfiguration, BadMachine, Bootstrap, Unknown };

// What is done about a machine that is not well.
enum class RepairKind { Reboot, Replace };

// What an instance type can say about its place in the network.
enum class TopologyClass { none, tree, block };

BOOST_DESCRIBE_ENUM(ClusterStatus, Creating, Deleting, Failed, InService, RollingBack, SystemUpdating, Updating)
BOOST_DESCRIBE_ENUM(GroupStatus, InService, Creating, Updating, Failed, Degraded, SystemUpdating, Deleting)
BOOST_DESCRIBE_ENUM(InstanceStatus, Running, Failure, Pending, ShuttingDown, SystemUpdating, DeepHealthCheckInProgress,
                    NotFound)
BOOST_DESCRIBE_ENUM(SoftwareUpdateStatus, Pending, InProgress, Succeeded, Failed, RollbackInProgress, RollbackComplete)
BOOST_DESCRIBE_ENUM(NodeType, Controller, Login, Compute)
BOOST_DESCRIBE_ENUM(EventLevel, Info, Warn, Error)
BOOST_DESCRIBE_ENUM(ResourceType, Cluster, InstanceGroup, Instance)
BOOST_DESCRIBE_ENUM(SlotState, Wanted, Launching, Booting, Configuring, Joining, Ready, Checking, Draining, Terminating,
                    Backoff, Gone)
BOOST_DESCRIBE_ENUM(ConditionType, Launched, Booted, Configured, Registered, Placed, Healthy, Schedulable)
BOOST_DESCRIBE_ENUM(FailureClass, None, Shortage, Quota, Throttling, WrongConfiguration, BadMachine, Bootstrap, Unknown)
BOOST_DESCRIBE_ENUM(RepairKind, Reboot, Replace)
BOOST_DESCRIBE_ENUM(TopologyClass, none, tree, block)

}  // namespace espalier
