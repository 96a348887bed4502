// Signatures of requests that changed something: within the window of the clock, each is good once.
//
// Clients make the same signature twice only when they send the same request in the same second: for what only reads
// that is usual and harmless, so reads are not kept here. Bounded: when it is full of signatures that are still good,
// nothing new is taken. One lock; safe from any thread.
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

  enum class Verdict { kFirst, kAgain, kFull };
  // `until`: when the signature is no longer taken anyway.
  Verdict use(const std::string& signature, Time until, Time now);
  // The request was not carried out after all: the client may send it again.
  void forget(const std::string& signature);

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::map<std::string, Time> seen_;
  std::set<std::pair<Time, std::string>> by_end_;
};

}  // namespace espalier::access
