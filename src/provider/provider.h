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
#include "model/launch.h"

namespace espalier {

class Provider {
 public:
  virtual ~Provider() = default;
  [[nodiscard]] virtual std::string name() const = 0;

  // Checks what can be checked without launching: is the type offered here, is its size known?
  virtual Result<void> offers(const std::string& instance_type) const = 0;
  // Releases of the machines' software, "ami-…", the newest first. Empty: this provider has only one.
  [[nodiscard]] virtual std::vector<std::string> images() const { return {}; }
  // One machine. Returns when it runs or surely does not, at the latest after the provider's own deadline.
  virtual LaunchOutcome launch(const LaunchRequest& request) = 0;
  // Returns when the machine and all that belonged to it are gone; gone before is a success.
  virtual Result<void> terminate(const MachineId& id) = 0;
  // The machine starts anew and keeps its id, address and disk; what ran on it ends. Returns when it runs again; one
  // that has ended is started. When that fails it has ended, which on_exit tells too. kNotFound: there is none.
  // kConflict: it is being terminated.
  virtual Result<void> reboot(const MachineId& id) {
    return fail(ErrorCode::kInvalid, "{} cannot reboot machines: {} stays as it is", name(), id.str());
  }
  // All machines with this cluster's tag; all machines when empty.
  virtual Result<std::vector<ProvidedMachine>> list(const ClusterId& cluster) = 0;
  // Removes what outlives machines: the cluster's /home and Slurm state. After the last machine is gone.
  virtual Result<void> remove_volumes(const ClusterId& cluster) = 0;
  // Called from a thread of the provider's when a machine ends that nobody asked to terminate.
  virtual void on_exit(std::function<void(const ProvidedMachine&)> callback) = 0;
};

}  // namespace espalier
