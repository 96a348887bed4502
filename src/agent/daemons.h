// The daemons of this machine, in the order of their start. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/daemon.h"

namespace espalier::agent {

class Daemons {
 public:
  // `changed` gets all views, on some daemon's thread, whenever one of them changed.
  Daemons(Processes& processes, std::function<void(std::vector<DaemonView>)> changed)
      : processes_(processes), changed_(std::move(changed)) {}
  ~Daemons() { end_all(); }

  // Starts it unless there is one of that name already, and waits until it is ready.
  Result<void> ensure_ready(DaemonSpec spec, Millis timeout);
  // The same without waiting.
  Result<void> ensure(DaemonSpec spec);
  // kNotFound when it does not run.
  Result<void> send(const std::string& name, int signal);
  // Ends it, if there is one.
  void end(const std::string& name);
  // Ends all, the newest first, and starts no more.
  void end_all();

 private:
  std::shared_ptr<Daemon> find(const std::string& name);
  void report();

  Processes& processes_;
  const std::function<void(std::vector<DaemonView>)> changed_;
  std::mutex mutex_;  // never held while a daemon is ended: its thread may be in report()
  std::vector<std::shared_ptr<Daemon>> daemons_;
  bool closed_ = false;
};

}  // namespace espalier::agent
