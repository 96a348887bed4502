// Tells when processes end that are not our children: one thread on their pidfds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/unique_fd.h"
#include "model/cluster.h"

namespace espalier::local {

class Watcher {
 public:
  // `ended` is called from the watcher's thread, without locks held.
  explicit Watcher(std::function<void(const MachineId&)> ended);
  // No call comes any more when it returns.
  ~Watcher();
  Watcher(const Watcher&) = delete;

  // Calls back once, when the process of this pidfd ends or has ended already. Replaces an earlier watch of `id`.
  void add(const MachineId& id, UniqueFd process);
  // Nothing is said about this machine any more, but for a call that is on its way.
  void remove(const MachineId& id);

 private:
  struct Watch {
    std::uint64_t number = 0;  // tells an event of this watch from a late one of an earlier watch
    UniqueFd process;
  };
  void run();
  void report(std::uint64_t number);

  const std::function<void(const MachineId&)> ended_;
  UniqueFd epoll_, stop_;
  std::mutex mutex_;
  std::map<MachineId, Watch> watches_;
  std::map<std::uint64_t, MachineId> ids_;
  std::uint64_t next_number_ = 1;  // 0 stands for stop_
  std::thread thread_;
};

}  // namespace espalier::local
