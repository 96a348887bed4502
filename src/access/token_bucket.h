// So many requests a second on average, so many at once. Time comes from the caller; who shares it holds a mutex.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace espalier::access {

struct Rate {
  double per_second = 0;  // 0: no bound
  double burst = 0;
};

class TokenBucket {
 public:
  explicit TokenBucket(Rate rate) : rate_(rate), left_(rate.burst) {}

  // Whether one more may pass.
  bool take(Time now) {
    if (rate_.per_second <= 0) return true;
    // A clock that was put back gives nothing.
    const auto passed = std::max(now - last_, Millis(0));
    left_ = std::min(rate_.burst, left_ + rate_.per_second * static_cast<double>(passed.count()) / 1000);
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  Rate rate_;
  double left_;
  Time last_{};
};

}  // namespace espalier::access
