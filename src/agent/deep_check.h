// The deep health check of this machine: what can be done here is done, and what cannot is said, never taken for good.
//
// InstanceStress: NVIDIA's own diagnosis, where there are GPUs and dcgmi. InstanceConnectivity: a connection to slurmd
// of every node of the check. Not ping: a node that answers ping may refuse every job, by its firewall or because its
// slurmd is gone, and it is from slurmd to slurmd that a job starts. For both the machine's own program is asked as
// well, docs/guide/health-checks.md has its contract.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/processes.h"
#include "agent/protocol.h"
#include "base/result.h"

namespace espalier::agent {

inline constexpr const char* kCheckProgram = "/etc/espalier/health-check";
inline constexpr const char* kCheckFolder = "/var/log/espalier";  // what the programs wrote, one file each
inline constexpr std::uint16_t kSlurmdPort = 6818;

// What the machine's own program said: its exit status, and the end of its output, whose last line decides.
CheckFinding read_answer(CheckKind kind, int status, const std::string& output);
// What `dcgmi diag -j` said.
CheckFinding read_diagnosis(int status, const std::string& output);
// Those of `peers` to which no connection could be made in several tries.
std::vector<std::string> unreachable(const std::vector<HostEntry>& peers, std::uint16_t port, Millis of_one_try);

class DeepChecks {
 public:
  using Done = std::function<void(CommandResult)>;

  // `done` is called on a thread of this. `root` is "/" but in tests.
  DeepChecks(Processes& processes, Done done, std::filesystem::path root = "/", std::uint16_t port = 0)
      : processes_(processes), done_(std::move(done)), root_(std::move(root)), port_(port) {}

  // The result of the command comes by `done`. One check at a time; the same one again has one result, for the command
  // that came last.
  Result<void> begin(const std::string& command, const CheckOrder& order);

 private:
  struct Output {
    int status = 0;
    std::string tail;
  };
  void run(const CheckOrder& order);
  std::vector<CheckFinding> findings(CheckKind kind, const CheckOrder& order, Millis limit);
  CheckFinding stress(Millis limit);
  CheckFinding connectivity(const CheckOrder& order);
  std::optional<CheckFinding> ask_own_program(CheckKind kind, const CheckOrder& order, Millis limit);
  Result<Output> run_program(const std::string& name, const std::vector<std::string>& argv, Millis limit);
  std::uint16_t slurmd_port();
  [[nodiscard]] std::filesystem::path at(const std::filesystem::path& path) const {
    return root_ / path.relative_path();
  }

  Processes& processes_;
  const Done done_;
  const std::filesystem::path root_;
  const std::uint16_t port_;  // of slurmd; 0: as Slurm's configuration has it

  std::mutex mutex_;
  std::string check_, command_;  // the last one that was begun, and the command to answer
  std::optional<std::vector<CheckFinding>> answered_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace espalier::agent
