// The user's own script on a machine: once, as root, with its files and the cluster's description beside it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agent/processes.h"
#include "agent/protocol.h"
#include "base/result.h"

namespace espalier::agent {

class LifecycleRunner {
 public:
  // The files of a bundle, by its digest. kNotFound and kUnavailable are tried again for a while.
  using Fetch = std::function<Result<std::vector<ScriptFile>>(const std::string& digest)>;

  // `root` is "/" but in tests.
  LifecycleRunner(Processes& processes, Fetch fetch, std::filesystem::path root = "/")
      : processes_(processes), fetch_(std::move(fetch)), root_(std::move(root)) {}

  // Writes what describes the cluster, then runs the script unless it has succeeded on this machine before. Blocks for
  // as long as that takes. A failure says what became of it, with the end of its log; what it started is killed then,
  // so that the next try finds the machine as free as this one did.
  Result<void> run(const Lifecycle& lifecycle);

  static constexpr Millis kFetchTime{60'000};  // the address may be slow, or this control plane new

 private:
  [[nodiscard]] std::filesystem::path at(const std::filesystem::path& path) const {
    return root_ / path.relative_path();
  }
  Result<void> run_once(const Lifecycle& lifecycle);
  Result<int> spawn_and_wait(const Lifecycle& lifecycle, const std::filesystem::path& folder);

  Processes& processes_;
  const Fetch fetch_;
  const std::filesystem::path root_;
};

}  // namespace espalier::agent
