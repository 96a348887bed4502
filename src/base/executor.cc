#include "base/executor.h"

#include <utility>

namespace espalier {

void ThreadPool::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_ && std::ssize(threads_) < most_) threads_.emplace_back([this] { work(); });
  }
  changed_.notify_one();
}

void ThreadPool::stop() {
  std::deque<std::function<void()>> dropped;  // destroyed outside the lock: a task's captures may post
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(tasks_);
    threads.swap(threads_);
  }
  dropped.clear();
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
    --idle_;
    if (stopped_) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

void ManualExecutor::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
}

bool ManualExecutor::run_one() {
  std::function<void()> task;
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) return false;
    task = std::move(tasks_.front());
    tasks_.pop_front();
  }
  task();
  return true;
}

std::size_t ManualExecutor::run_all() {
  std::size_t ran = 0;
  while (run_one()) ++ran;
  return ran;
}

std::size_t ManualExecutor::waiting() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

}  // namespace espalier
