// How many machines of a type there are, how long a launch takes, and what fails: shortages and faults on request.
//
// The default has no bounds and no faults. A file (YAML) changes that, what is set at run time changes it again and is
// kept, by instance type:
//
//   default: {machines: 8}
//   ml.p5.48xlarge: {machines: 6, launch_time_ms: 1500, failure_rate: 0.1, failure_class: Bootstrap}
//
// Safe from any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "provider/capacity.h"
#include "provider/provider.h"

namespace espalier::sim {

// kInvalid says which member of which type is wrong.
Result<std::map<std::string, Pool>> pools_from_yaml(const std::string& text);
Result<void> check_pool(const std::string& instance_type, const Pool& pool);

class CapacityModel {
 public:
  // `kept`: where run-time changes are kept, read now when it exists. `start`: what holds for types not changed so.
  static Result<std::unique_ptr<CapacityModel>> open(std::filesystem::path kept, std::map<std::string, Pool> start);

  [[nodiscard]] Pool pool(const std::string& instance_type) const;
  // All pools that are not as "default" says, and "default".
  [[nodiscard]] std::map<std::string, Pool> pools() const;
  // Takes effect at once and is on disk when it returns.
  Result<void> set(const std::string& instance_type, const Pool& pool);
  void on_change(std::function<void()> callback);

  // Why one more machine cannot be had while `in_use` of them are; nothing when it can.
  [[nodiscard]] std::optional<LaunchFailure> shortage(const std::string& instance_type, int in_use) const;
  // The fault of this launch, by the pool's failure rate; nothing when it goes well.
  [[nodiscard]] std::optional<LaunchFailure> fault(const std::string& instance_type, Random& random) const;

 private:
  CapacityModel(std::filesystem::path kept, std::map<std::string, Pool> start)
      : kept_(std::move(kept)), start_(std::move(start)) {}

  const std::filesystem::path kept_;
  const std::map<std::string, Pool> start_;
  mutable std::mutex mutex_;
  std::map<std::string, Pool> set_;
  std::function<void()> callback_;
};

}  // namespace espalier::sim
