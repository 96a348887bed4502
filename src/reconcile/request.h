// What users may ask of a cluster beside its groups: single nodes, and its software. Filled in by api/, answered node
// by node; the codes are those of the wire.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/cluster.h"

namespace espalier::reconcile {

// BatchAddClusterNodes: raises targets, and names the slots at once.
struct NodeAddition {
  std::string group;
  int count = 1;
  std::vector<std::string> instance_types;  // of a flexible group; empty: any of it
  std::vector<std::string> zones;
  bool operator==(const NodeAddition&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeAddition, (), (group, count, instance_types, zones))

struct AddNodes {
  std::string client_token;  // empty: none
  std::vector<NodeAddition> additions;
};

struct AddedNode {
  SlotId slot;
  std::string group;
  InstanceStatus status = InstanceStatus::Pending;  // NotFound: of an earlier call with this token, gone since
};
struct AddFailure {
  NodeAddition addition;
  std::string code;  // InstanceGroupNotFound, InvalidInstanceGroupStatus, IncompatibleInstanceTypes, …
  std::string message;
};
struct AddNodesAnswer {
  std::vector<AddedNode> added;
  std::vector<AddFailure> failed;
};

// BatchDelete-, BatchReplace- and BatchRebootClusterNodes. A node is named by machine or by slot: the other is empty.
enum class NodeAction { Delete, Replace, Reboot };
BOOST_DESCRIBE_ENUM(NodeAction, Delete, Replace, Reboot)
struct NodeRef {
  MachineId machine;
  SlotId slot;
};
struct ActOnNodes {
  NodeAction action = NodeAction::Delete;
  std::vector<NodeRef> nodes;
};
enum class NodeRefusal { NotFound, InvalidStatus, InUse };  // api/ gives them the operation's own codes
struct NodeFailure {
  NodeRef node;
  NodeRefusal why = NodeRefusal::NotFound;
  std::string message;
};
struct ActOnNodesAnswer {
  std::vector<NodeRef> done;
  std::vector<NodeFailure> failed;
};

// UpdateClusterSoftware.
struct BatchSize {
  int value = 1;
  bool percent = false;  // of the group's target; at least one machine
};
struct UpdateSoftware {
  std::vector<std::string> groups;  // empty: all
  std::string image;                // empty or "default": the provider's newest
  std::optional<BatchSize> batch;   // absent: all at once
  std::optional<BatchSize> rollback_batch;
  Millis wait{0};
};

// StartClusterHealthCheck.
struct GroupCheck {
  std::string group;
  std::vector<MachineId> machines;  // empty: all that are Ready
  std::vector<CheckKind> kinds;
};
struct CheckHealth {
  std::vector<GroupCheck> groups;
};

using UserAnswer = std::variant<std::monostate, AddNodesAnswer, ActOnNodesAnswer>;

}  // namespace espalier::reconcile
