// What is asked of a provider and what it answers: a machine for a slot, or why there is none.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "model/cluster.h"

namespace espalier {

// What a machine's agent finds at its first start.
struct UserData {
  std::string control_plane;  // base URL of the agents' listener; filled in by the engine, "http://10.77.0.1:8651"
  std::string machine_id;     // filled in by the provider
  std::string token;          // enrolment token
};
BOOST_DESCRIBE_STRUCT(UserData, (), (control_plane, machine_id, token))

struct LaunchRequest {
  std::string key;  // idempotency key: at most one machine ever comes of it
  std::string instance_type;
  std::string host_name;
  ClusterId cluster;  // cluster, group, slot are the machine's tags
  std::string group;
  SlotId slot;
  NodeType role = NodeType::Compute;
  std::string address;  // wished address (a replaced controller keeps its own); empty: any
  std::string image;    // release of the software; empty: the newest
  UserData user_data;
};
BOOST_DESCRIBE_STRUCT(LaunchRequest, (),
                      (key, instance_type, host_name, cluster, group, slot, role, address, image, user_data))

// A machine as its provider knows it.
struct ProvidedMachine {
  Machine machine;
  std::string key;
  ClusterId cluster;
  std::string group;
  SlotId slot;
  bool running = true;  // false: it ended by itself, or could not be completed
};
BOOST_DESCRIBE_STRUCT(ProvidedMachine, (), (machine, key, cluster, group, slot, running))

// Why a launch failed. A failure promises that no machine came of it and that the key is still good.
struct LaunchFailure {
  FailureClass kind = FailureClass::Unknown;
  std::string message;
};

using LaunchOutcome = tl::expected<ProvidedMachine, LaunchFailure>;

}  // namespace espalier
