#include "access/replays.h"

namespace espalier::access {

Replays::Verdict Replays::use(const std::string& signature, Time until, Time now) {
  const std::lock_guard lock(mutex_);
  while (!by_end_.empty() && by_end_.begin()->first < now) {
    seen_.erase(by_end_.begin()->second);
    by_end_.erase(by_end_.begin());
  }
  if (const auto found = seen_.find(signature); found != seen_.end())
    return now < found->second.first + kSameSecond ? Verdict::kFirst : Verdict::kAgain;
  if (seen_.size() >= most_) return Verdict::kFull;
  seen_.emplace(signature, Use{now, until});
  by_end_.emplace(until, signature);
  return Verdict::kFirst;
}

void Replays::forget(const std::string& signature) {
  const std::lock_guard lock(mutex_);
  const auto found = seen_.find(signature);
  if (found == seen_.end()) return;
  by_end_.erase({found->second.until, signature});
  seen_.erase(found);
}

}  // namespace espalier::access
