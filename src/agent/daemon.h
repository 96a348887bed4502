// Keeps one daemon alive: starts it, knows when it is ready, follows it through changes of its pid, and starts it again
// with growing pauses when it dies. A thread for each daemon; all that is public is thread-safe.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/accounts.h"
#include "agent/processes.h"
#include "agent/protocol.h"
#include "agent/socket.h"
#include "base/unique_fd.h"

namespace espalier::agent {

class NotifySocket;

struct DaemonSpec {
  std::string name;
  std::vector<std::string> argv;  // stays in the foreground
  Account user;                   // runs as
  std::filesystem::path log;      // its output is appended; "": it keeps a log itself, only its last words are kept
  std::filesystem::path socket;   // ready when this UNIX socket takes connections; "": when it sends READY=1
  std::optional<Endpoint> after;  // started only when somebody listens there; awaited for ever
  std::filesystem::path notify_folder = "/run/espalier";
};

class Daemon {
 public:
  // `changed` is called on the daemon's thread whenever view() changes.
  Daemon(DaemonSpec spec, Processes& processes, std::function<void()> changed);
  // Ends it: SIGTERM, after kGrace SIGKILL.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  [[nodiscard]] DaemonView view() const;
  [[nodiscard]] const std::string& name() const { return spec_.name; }
  // Waits until it is ready, or has died kHopelessDeaths times meanwhile (it is started again nevertheless).
  Result<void> await_ready(Millis timeout);
  // False when it does not run.
  bool send(int signal);

  static constexpr Millis kGrace{10'000};
  static constexpr int kHopelessDeaths = 3;

 private:
  enum class End { kDied, kStopped };

  void supervise();
  bool await_other_side();
  Result<pid_t> start();
  End follow(pid_t pid, NotifySocket& notify);
  void end(pid_t pid);
  void listen();
  void set_pid(pid_t pid);
  void set(bool running, std::string message);
  void count_death();
  // False when stop was asked for meanwhile.
  bool pause(Millis time) const;
  [[nodiscard]] std::string cause(std::optional<int> status);

  const DaemonSpec spec_;
  Processes& processes_;
  const std::function<void()> changed_;
  const UniqueFd stop_fd_;  // an eventfd: readable once stop is asked for
  // The daemon's output, where it has no log of ours. Never blocks it, and is never closed before the agent ends:
  // what the daemon started may hold it for longer than the daemon lives.
  UniqueFd output_read_;
  UniqueFd output_write_;
  std::string last_words_;  // of the daemon's thread

  mutable std::mutex mutex_;
  std::condition_variable state_changed_;
  bool running_ = false;
  pid_t pid_ = 0;  // 0: none
  int deaths_ = 0;
  std::string message_ = "starting";

  std::jthread thread_;
};

}  // namespace espalier::agent
