// What a group's LifeCycleConfig means, and what its scripts are told about the cluster. Pure.
#pragma once

#include <optional>
#include <string>

#include "agent/protocol.h"
#include "model/cluster.h"

namespace espalier::reconcile {

struct Script {
  std::string uri;  // s3://bucket/prefix
  std::string name;
  agent::LifecycleHook hook = agent::LifecycleHook::OnCreate;
};
// Nothing: its machines run none. The shapes let a group have one of the two hooks; with both, OnCreate is the setup.
std::optional<Script> script_of(const Group& group);

// /opt/ml/config/resource_config.json as it is for `reader`. Machines have it as of their setup. Above kWholeConfig
// slots a machine other than the controller is told only of the controller's and login groups and of itself: n machines
// that each hold all of n are too much to send.
std::string resource_config(const ClusterState& state, const Slot& reader);
inline constexpr std::size_t kWholeConfig = 1000;
// /opt/ml/config/provisioning_parameters.json.
std::string provisioning_parameters(const ClusterState& state);

}  // namespace espalier::reconcile
