// Time comes in through a Clock, so that the core runs under a virtual one.
#pragma once

#include <atomic>
#include <chrono>

namespace espalier {

using Millis = std::chrono::milliseconds;
using Time = std::chrono::sys_time<Millis>;  // UTC, to the millisecond

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override {
    return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  }
};

// Stands still until it is advanced. Safe to read from several threads.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start.time_since_epoch().count()) {}
  [[nodiscard]] Time now() const override { return Time(Millis(now_.load())); }
  void advance(Millis by) { now_ += by.count(); }

 private:
  std::atomic<Millis::rep> now_;
};

}  // namespace espalier
