// Virtual time in one thread: what is to happen, when, and in which order when several things may happen at once.
//
// Of all that is due, the seed chooses what comes next: every order that threads could make can come up, and comes up
// again with the same seed.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace espalier::sim {

inline constexpr Time kStart{Millis(1'800'000'000'000)};

class Scheduler final : public Clock {
 public:
  explicit Scheduler(std::uint64_t seed, Time start = kStart) : random_(seed), now_(start) {}

  [[nodiscard]] Time now() const override { return now_; }
  Random& random() { return random_; }
  // True once in so many times.
  bool chance(double probability) { return probability > 0 && random_.unit() < probability; }
  // Uniform in [from, to].
  Millis between(Millis from, Millis to) {
    return from + Millis(static_cast<Millis::rep>(random_.below(static_cast<std::uint64_t>((to - from).count()) + 1)));
  }
  int between(int from, int to) {
    return from + static_cast<int>(random_.below(static_cast<std::uint64_t>(to - from) + 1));
  }

  void at(Time time, std::function<void()> what);
  void after(Millis delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }
  // When something is due.
  [[nodiscard]] std::optional<Time> next() const;
  // Runs one of the things that are due, moving time on when none is. False: nothing is left up to `end`; time is `end`
  // then.
  bool run_one(Time end);

  bool in_order = false;  // what is due at the same time comes as it was asked for, not as the seed has it

 private:
  Random random_;
  Time now_;
  std::multimap<Time, std::function<void()>> later_;
  std::vector<std::function<void()>> due_;
};

}  // namespace espalier::sim
