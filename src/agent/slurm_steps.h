// Carries out the typed steps of a `slurm` command on the controller, by scontrol and sinfo, without a shell.
//
// One thread. A batch stops at its first failure. Files that no reconfigure has taken by then are put back, so that
// what stands in /etc/slurm is always what slurmctld last took.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agent/config_folder.h"
#include "agent/protocol.h"
#include "base/clock.h"
#include "base/result.h"

namespace espalier::agent {

// Runs a command to its end: its standard output (Processes::run).
using RunCommand = std::function<Result<std::string>(const std::vector<std::string>& argv, Millis timeout)>;

// Asks until slurmctld answers, for at most `timeout`.
Result<void> await_slurmctld(const RunCommand& run, Millis timeout);

class SlurmSteps {
 public:
  // `log` is slurmctld's: it alone says why a reconfigure was refused.
  SlurmSteps(ConfigFolder& folder, RunCommand run, std::filesystem::path log)
      : folder_(folder), run_(std::move(run)), log_(std::move(log)) {}

  // One result for each step carried out; only the last can be a failure.
  std::vector<SlurmStepResult> carry_out(const std::vector<SlurmStep>& steps);

 private:
  Result<std::string> one(const SlurmStep& step);
  Result<std::string> scontrol(std::vector<std::string> words);
  Result<std::string> create_partition(const SlurmStep& step);
  Result<std::string> delete_partition(const std::string& name);
  Result<std::string> reconfigure();
  Result<std::string> read_nodes(const std::string& hostlist);
  std::string put_back(bool slurmctld_may_have_taken_it);

  ConfigFolder& folder_;
  RunCommand run_;
  std::filesystem::path log_;
};

}  // namespace espalier::agent
