// Looks at the nodes as slurmctld shows them, on the controller, and passes on what it sees. A thread of its own.
//
// Those that are waited for are looked at every kCloseLook, all of them every kWideLook and when poked. When
// slurmctld does not answer nothing is passed on: not knowing is no change.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/protocol.h"
#include "agent/slurm_steps.h"

namespace espalier::agent {

inline constexpr Millis kCloseLook{100};
inline constexpr Millis kWideLook{2000};

class Watch {
 public:
  // nodes; `all`: they are all that there are.
  using Seen = std::function<void(const std::vector<NodeView>& nodes, bool all)>;

  Watch(RunCommand run, Seen seen);
  ~Watch();

  // Slurm's host list of the nodes to look at closely; "" for none.
  void look_closely_at(std::string hostlist);
  // Something was changed: look at all nodes now.
  void poke();

 private:
  void loop();
  bool look(const std::string& hostlist);

  const RunCommand run_;
  const Seen seen_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string closely_;
  bool poked_ = true;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace espalier::agent
