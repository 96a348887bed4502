#include "base/timers.h"

namespace espalier {

Timers::Id TimerQueue::add(Time at, std::function<void()> callback) {
  const Timers::Id id = ++last_;
  callbacks_.emplace(Key{at, id}, std::move(callback));
  times_.emplace(id, at);
  return id;
}

bool TimerQueue::remove(Timers::Id id) {
  const auto found = times_.find(id);
  if (found == times_.end()) return false;
  callbacks_.erase(Key{found->second, id});
  times_.erase(found);
  return true;
}

std::optional<Time> TimerQueue::next() const {
  if (callbacks_.empty()) return std::nullopt;
  return callbacks_.begin()->first.first;
}

std::function<void()> TimerQueue::take_due(Time now) {
  const auto first = callbacks_.begin();
  if (first == callbacks_.end() || first->first.first > now) return nullptr;
  auto callback = std::move(first->second);
  times_.erase(first->first.second);
  callbacks_.erase(first);
  return callback;
}

TimerThread::TimerThread() : thread_([this] { work(); }) {}

TimerThread::~TimerThread() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Timers::Id TimerThread::schedule(Time at, std::function<void()> callback) {
  Id id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = queue_.add(at, std::move(callback));
  }
  changed_.notify_one();
  return id;
}

bool TimerThread::cancel(Id id) {
  const std::lock_guard lock(mutex_);
  return queue_.remove(id);
}

void TimerThread::work() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (auto callback = queue_.take_due(SystemClock().now())) {
      lock.unlock();
      callback();
      callback = nullptr;  // its captures may own whoever schedules: let them go outside the lock
      lock.lock();
    } else if (const auto next = queue_.next()) {
      changed_.wait_until(lock, *next);
    } else {
      changed_.wait(lock);
    }
  }
}

Timers::Id ManualTimers::schedule(Time at, std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  return queue_.add(at, std::move(callback));
}

bool ManualTimers::cancel(Id id) {
  const std::lock_guard lock(mutex_);
  return queue_.remove(id);
}

std::optional<Time> ManualTimers::next() const {
  const std::lock_guard lock(mutex_);
  return queue_.next();
}

std::size_t ManualTimers::run_due(Time now) {
  std::size_t ran = 0;
  while (true) {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      callback = queue_.take_due(now);
    }
    if (!callback) return ran;
    callback();
    ++ran;
  }
}

}  // namespace espalier
