// Growing pauses between tries: doubled each time up to a longest, each with jitter of half to one of its length.
#pragma once

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

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

// Asks until there is an answer, for so long at most. kInvalid and kPermission are answers: they would come again.
template <typename Ask>
auto ask_for(Millis length, Ask ask, Backoff pauses = {Millis(100), Millis(5000), Random::from_system()}) {
  const auto give_up = std::chrono::steady_clock::now() + length;
  for (;;) {
    auto answer = ask();
    if (answer || std::chrono::steady_clock::now() >= give_up) return answer;
    const ErrorCode code = answer.error().code;
    if (code == ErrorCode::kInvalid || code == ErrorCode::kPermission) return answer;
    std::this_thread::sleep_for(pauses.next());
  }
}

}  // namespace espalier::agent
