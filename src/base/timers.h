// Calls at a time. Callbacks must be short: post what is long to an Executor.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace espalier {

class Timers {
 public:
  using Id = std::uint64_t;  // never 0, never used again

  virtual ~Timers() = default;
  // Calls back once, at `at` or soon after; times that have passed are due at once. Calls due at the same time come in
  // the order in which they were scheduled.
  virtual Id schedule(Time at, std::function<void()> callback) = 0;
  // True: the callback will not be called. False: it was called, or is being called now.
  virtual bool cancel(Id id) = 0;
};

// What is scheduled, soonest first. Not safe from several threads by itself.
class TimerQueue {
 public:
  Timers::Id add(Time at, std::function<void()> callback);
  bool remove(Timers::Id id);
  [[nodiscard]] std::optional<Time> next() const;
  // Takes the soonest one that is due at `now`; empty when none is.
  std::function<void()> take_due(Time now);
  [[nodiscard]] std::size_t size() const { return callbacks_.size(); }

 private:
  using Key = std::pair<Time, Timers::Id>;
  std::map<Key, std::function<void()>> callbacks_;
  std::map<Timers::Id, Time> times_;
  Timers::Id last_ = 0;
};

// One thread that calls back by the system's clock, also when that is set forward. Ends with the object: what has not
// been called by then never is. Callbacks may schedule and cancel.
class TimerThread final : public Timers {
 public:
  TimerThread();
  ~TimerThread() override;
  TimerThread(const TimerThread&) = delete;
  TimerThread& operator=(const TimerThread&) = delete;

  Id schedule(Time at, std::function<void()> callback) override;
  bool cancel(Id id) override;

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  TimerQueue queue_;
  bool stopped_ = false;
  std::thread thread_;
};

// For tests and simulation: calls back when it is told what time it is, on the caller's thread.
class ManualTimers final : public Timers {
 public:
  Id schedule(Time at, std::function<void()> callback) override;
  bool cancel(Id id) override;
  // When the soonest one is due.
  [[nodiscard]] std::optional<Time> next() const;
  // Calls all that are due at `now`, those that they schedule too; gives their number.
  std::size_t run_due(Time now);

 private:
  mutable std::mutex mutex_;
  TimerQueue queue_;
};

}  // namespace espalier
