// Growing pauses between tries: doubled each time up to a longest, each with jitter of half to one of its length.
#pragma once

#include <algorithm>

#include "base/clock.h"
#include "base/random.h"

namespace espalier::agent {

class Backoff {
 public:
  Backoff(Millis first, Millis longest, Random random)
      : first_(first), longest_(longest), next_(first), random_(std::move(random)) {}

  Millis next() {
    const Millis pause = next_;
    next_ = std::min(next_ * 2, longest_);
    return pause / 2 + Millis(static_cast<Millis::rep>(random_.below(pause.count() / 2 + 1)));
  }
  void reset() { next_ = first_; }

 private:
  Millis first_;
  Millis longest_;
  Millis next_;
  Random random_;
};

}  // namespace espalier::agent
