// The one interface to clouds: where machines come from.
//
// Calls block and may be slow; they come from the engine's bounded pool, several at once. All are idempotent: a launch
// with a key that was used gives the machine that it made, a terminate of what is gone succeeds.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
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
  UserData user_data;
};
BOOST_DESCRIBE_STRUCT(LaunchRequest, (),
                      (key, instance_type, host_name, cluster, group, slot, role, address, user_data))

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

class Provider {
 public:
  virtual ~Provider() = default;
  [[nodiscard]] virtual std::string name() const = 0;

  // Checks what can be checked without launching: is the type offered here, is its size known?
  virtual Result<void> offers(const std::string& instance_type) const = 0;
  // One machine. Returns when it runs or surely does not, at the latest after the provider's own deadline.
  virtual LaunchOutcome launch(const LaunchRequest& request) = 0;
  // Returns when the machine and all that belonged to it are gone; gone before is a success.
  virtual Result<void> terminate(const MachineId& id) = 0;
  // All machines with this cluster's tag; all machines when empty.
  virtual Result<std::vector<ProvidedMachine>> list(const ClusterId& cluster) = 0;
  // Removes what outlives machines: the cluster's /home and Slurm state. After the last machine is gone.
  virtual Result<void> remove_volumes(const ClusterId& cluster) = 0;
  // Called from a thread of the provider's when a machine ends that nobody asked to terminate.
  virtual void on_exit(std::function<void(const ProvidedMachine&)> callback) = 0;
};

}  // namespace espalier
