#include "process.h"

#include <algorithm>
#include <utility>

namespace espalier::sim {

Timers::Id ProcessTimers::schedule(Time at, std::function<void()> callback) {
  const Id id = queue_.add(at, std::move(callback));
  arm();
  return id;
}

void ProcessTimers::rearm() {
  armed_.reset();
  arm();
}

void ProcessTimers::arm() {
  const auto next = queue_.next();
  if (!next) return;
  const Time due = std::max(*next - clock_.skew(), time_.now());
  if (armed_ && *armed_ <= due) return;
  armed_ = due;
  time_.at(due, [this, life = life_, due] {
    if (!life->alive || armed_ != due) return;
    armed_.reset();
    ring();
  });
}

void ProcessTimers::ring() {
  if (const auto callback = queue_.take_due(clock_.now())) callback();
  arm();
}

void ProcessExecutor::post(std::function<void()> task) {
  if (!life_->alive) return;
  time_.at(time_.now(), [life = life_, took = took_, task = std::move(task)] {
    if (!life->alive) return;
    if (took == nullptr) return task();
    const auto begin = std::chrono::steady_clock::now();
    task();
    took->push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  });
}

void CallExecutor::post(std::function<void()> task) {
  if (!life_->alive) return;
  waiting_.push_back(std::move(task));
  begin();
}

void CallExecutor::begin() {
  while (!waiting_.empty() && running_.size() < threads_) {
    const auto fiber = std::make_shared<Fiber>(std::move(waiting_.front()));
    waiting_.pop_front();
    running_.push_back(fiber);
    go_on(fiber);
  }
}

thread_local CallExecutor* CallExecutor::current_ = nullptr;

void CallExecutor::go_on(const FiberPtr& fiber) {
  CallExecutor* const before = std::exchange(current_, this);
  fiber->resume();
  current_ = before;
  if (fiber->ended()) std::erase(running_, fiber);
}

bool CallExecutor::pause(Millis length) {
  CallExecutor& mine = *current_;
  if (!mine.life_->alive) return false;
  const FiberPtr self = *std::ranges::find(mine.running_, Fiber::current(), &FiberPtr::get);
  mine.time_.after(length, [&mine, life = mine.life_, self] {
    if (!life->alive) return;  // end() sees to it
    mine.go_on(self);
    mine.begin();
  });
  Fiber::suspend();
  return mine.life_->alive;
}

void CallExecutor::end() {
  waiting_.clear();
  while (!running_.empty()) go_on(FiberPtr(running_.front()));
}

}  // namespace espalier::sim
