#include "scheduler.h"

#include <utility>

namespace espalier::sim {

void Scheduler::at(Time time, std::function<void()> what) {
  if (time <= now_)
    due_.push_back(std::move(what));
  else
    later_.emplace(time, std::move(what));
}

std::optional<Time> Scheduler::next() const {
  if (!due_.empty()) return now_;
  if (later_.empty()) return std::nullopt;
  return later_.begin()->first;
}

bool Scheduler::run_one(Time end) {
  if (due_.empty()) {
    const auto first = later_.begin();
    if (first == later_.end() || first->first > end) {
      now_ = std::max(now_, end);
      return false;
    }
    now_ = first->first;
    while (!later_.empty() && later_.begin()->first <= now_) {
      due_.push_back(std::move(later_.begin()->second));
      later_.erase(later_.begin());
    }
  }
  const auto chosen = in_order ? due_.begin() : due_.end() - 1;
  if (!in_order) std::swap(due_[random_.below(due_.size())], *chosen);
  const auto what = std::move(*chosen);
  due_.erase(chosen);
  what();
  return true;
}

}  // namespace espalier::sim
