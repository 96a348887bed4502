// The processes below the agent. As pid 1 (or as subreaper) every orphan of the machine becomes its child: one thread
// reaps them all, and keeps the status of those that somebody waits for.
//
// Make one, first of all in main and before any other thread: it blocks SIGCHLD for them. Thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/accounts.h"
#include "base/clock.h"
#include "base/result.h"

namespace espalier::agent {

inline constexpr const char* kProgramPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
inline constexpr std::size_t kMaxOutputBytes = 16 << 20;

struct ProcessSpec {
  std::vector<std::string> argv;         // the first is looked up in kProgramPath
  std::vector<std::string> environment;  // beside PATH and, unless given, HOME: "NAME=value"
  Account user;
  int output = -1;  // where standard output goes; -1: nowhere
  int errors = -1;
  std::string folder = "/";  // that it starts in
};

// Where a program is, or nothing. Names with a slash are paths.
std::optional<std::string> find_program(const std::string& name, const std::filesystem::path& root = "/");
// "status 1", "signal 9 (Killed)".
std::string describe_status(int status);

class Processes {
 public:
  Processes();
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // Starts it in a session of its own with nothing inherited. Its status is kept until wait() has taken it.
  Result<pid_t> spawn(const ProcessSpec& spec);
  // Keeps the status of a process that became our child by itself.
  void adopt(pid_t pid);
  // Nobody will wait for it.
  void forget(pid_t pid);
  // The status for waitpid(2)'s macros; nothing when it still runs at the deadline.
  std::optional<int> wait(pid_t pid, Millis timeout);

  // Runs a command as root to its end: its standard output. A status other than 0 is kUnavailable with what it wrote,
  // kTimeout after its deadline (it is killed). More than kMaxOutputBytes: kLimit.
  Result<std::string> run(const std::vector<std::string>& argv, Millis timeout);

 private:
  void reap_until_stopped(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<pid_t, std::optional<int>> awaited_;
  std::jthread reaper_;
};

}  // namespace espalier::agent
