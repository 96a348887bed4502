// What one run of the control plane lives by: its clock, its timers, the threads that run its steps and its calls that
// block, all under virtual time. When its life ends nothing of it has an effect any more.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "base/timers.h"
#include "fiber.h"
#include "scheduler.h"

namespace espalier::sim {

// Shared by all that acts for one run.
struct Life {
  bool alive = true;
};
using LifePtr = std::shared_ptr<Life>;

// The machine's clock, which may be wrong and be set while the process runs.
class ProcessClock final : public Clock {
 public:
  ProcessClock(const Scheduler& time, Millis skew) : time_(time), skew_(skew) {}
  [[nodiscard]] Time now() const override { return time_.now() + skew_; }
  void set(Millis skew) { skew_ = skew; }
  [[nodiscard]] Millis skew() const { return skew_; }

 private:
  const Scheduler& time_;
  Millis skew_;
};

class ProcessTimers final : public Timers {
 public:
  ProcessTimers(Scheduler& time, const ProcessClock& clock, LifePtr life)
      : time_(time), clock_(clock), life_(std::move(life)) {}
  Id schedule(Time at, std::function<void()> callback) override;
  bool cancel(Id id) override { return queue_.remove(id); }
  // The clock was set.
  void rearm();

 private:
  void arm();
  void ring();

  Scheduler& time_;
  const ProcessClock& clock_;
  const LifePtr life_;
  TimerQueue queue_;
  std::optional<Time> armed_;  // in virtual time
};

// Any number of threads: tasks begin in an order that the seed chooses.
class ProcessExecutor final : public Executor {
 public:
  // `took`: how long each task took, in seconds of real time, is added to it; null: is not measured.
  ProcessExecutor(Scheduler& time, LifePtr life, std::vector<double>* took)
      : time_(time), life_(std::move(life)), took_(took) {}
  void post(std::function<void()> task) override;

 private:
  Scheduler& time_;
  const LifePtr life_;
  std::vector<double>* const took_;
};

// Threads for calls that block. A task begins within post() while there is a free one, so that it is seen what was
// asked for when it was decided; it goes on after its first pause.
class CallExecutor final : public Executor {
 public:
  CallExecutor(Scheduler& time, LifePtr life, std::size_t threads)
      : time_(time), life_(std::move(life)), threads_(threads) {}
  void post(std::function<void()> task) override;
  // From within a task of any of them: time passes. False: the process has ended, return at once.
  static bool pause(Millis length);
  // The process has ended: lets every task run to its end.
  void end();

 private:
  using FiberPtr = std::shared_ptr<Fiber>;
  void begin();
  void go_on(const FiberPtr& fiber);

  static thread_local CallExecutor* current_;  // whose task runs
  Scheduler& time_;
  const LifePtr life_;
  const std::size_t threads_;
  std::deque<std::function<void()>> waiting_;
  std::vector<FiberPtr> running_;  // in the order in which they began, not of their places in memory
};

}  // namespace espalier::sim
