// Where work runs. Actors post tasks to an Executor and never know whether threads or a test's queue run them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace espalier {

class Executor {
 public:
  virtual ~Executor() = default;
  // Takes a task and returns at once; it runs later, on any thread. Safe from any thread, from within tasks too.
  virtual void post(std::function<void()> task) = 0;
};

// One queue, and as many threads as tasks run at once, up to `most`: a task that hangs holds up nobody while there is
// room. Tasks begin in the order of their post. Threads stay once they are made.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int most) : most_(most) {}
  ~ThreadPool() override { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void post(std::function<void()> task) override;
  // Waits for the tasks that run and drops those that have not begun, as a crash would: what must not be lost is an
  // intent in the store. Later posts are dropped too. Not from within a task.
  void stop();

 private:
  void work();

  const int most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::size_t idle_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

// For tests: tasks wait until the test runs them, on the test's own thread. Posting is safe from any thread.
class ManualExecutor final : public Executor {
 public:
  void post(std::function<void()> task) override;
  // Runs the oldest task; false when there is none.
  bool run_one();
  // Runs tasks, those that they post too, until none waits; gives their number.
  std::size_t run_all();
  [[nodiscard]] std::size_t waiting() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::function<void()>> tasks_;
};

}  // namespace espalier
