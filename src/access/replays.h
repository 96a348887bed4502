// Signatures of requests that changed something: within the window of the clock, each is good once.
//
// A date has whole seconds: clients make the same signature twice when they send the same request in the same second,
// as a script does that repeats a BatchAddClusterNodes with its token. So a second use is taken while kSameSecond
// lasts, and from then on it is a replay. What only reads is not kept here. Bounded: when it is full of signatures that
// are still good, nothing new is taken. One lock; safe from any thread.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/clock.h"

namespace espalier::access {

class Replays {
 public:
  explicit Replays(std::size_t most = 100'000) : most_(most) {}

  static constexpr Millis kSameSecond{1000};  // after the first use

  enum class Verdict { kFirst, kAgain, kFull };
  // `until`: when the signature is no longer taken anyway.
  Verdict use(const std::string& signature, Time until, Time now);
  // The request was not carried out after all: the client may send it again.
  void forget(const std::string& signature);

 private:
  const std::size_t most_;
  std::mutex mutex_;
  struct Use {
    Time first;
    Time until;
  };
  std::map<std::string, Use> seen_;
  std::set<std::pair<Time, std::string>> by_end_;
};

}  // namespace espalier::access
