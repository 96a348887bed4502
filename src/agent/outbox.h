// What the control plane has still to be told. Everything is kept until a report with it was acknowledged, and sent
// again until then. Thread-safe.
//
// Bounds: nodes by their number in Slurm; results by kMaxResults (the oldest goes: its command will be asked for
// again), and of the carried-out ones the last kMaxResults are remembered, to be repeated for a command that comes
// twice.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/protocol.h"
#include "base/clock.h"

namespace espalier::agent {

inline constexpr std::size_t kMaxResults = 1000;
inline constexpr std::size_t kMaxNodesInReport = 5000;
inline constexpr std::size_t kMaxResultBytesInReport = 2 << 20;

class Outbox {
 public:
  explicit Outbox(std::string boot) : boot_(std::move(boot)) {}

  void add_result(CommandResult result);
  // Queues the result of a command once more. False: not carried out, or so long ago that it is forgotten.
  bool repeat_result(const std::string& id);
  // Nodes as they are now. `all`: those not among them no longer exist.
  void set_nodes(const std::vector<NodeView>& nodes, bool all);
  void set_daemons(std::vector<DaemonView> daemons);
  void set_health(HealthView health);
  // The control plane is another one: tell it everything.
  void tell_all_again();

  // Waits until there is news, for at most `timeout`, then gives the report to send. What is in it
  // comes again until it is acknowledged.
  Report next_report(Millis timeout);
  // `sent` has arrived.
  void acknowledge(const Report& sent);

 private:
  [[nodiscard]] bool has_news() const;

  const std::string boot_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<CommandResult> results_;  // not acknowledged, oldest first
  std::deque<CommandResult> carried_out_;
  std::map<std::string, NodeView> nodes_;
  std::map<std::string, NodeView> unsent_;  // those of nodes_ that differ from what was acknowledged
  std::vector<DaemonView> daemons_;
  bool daemons_unsent_ = false;
  std::optional<HealthView> health_;
  bool health_unsent_ = false;
};

}  // namespace espalier::agent
