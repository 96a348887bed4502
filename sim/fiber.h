// A body with a stack of its own that can stop in the middle and go on later, all on one thread: how calls that block
// in production take virtual time. A body that is never resumed to its end is an error of its owner's.
#pragma once

#include <functional>
#include <memory>

namespace espalier::sim {

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it suspends or ends. Not from within itself.
  void resume();
  [[nodiscard]] bool ended() const;
  // The one that runs now; nullptr on the thread's own stack.
  static Fiber* current();
  // Goes back to whoever called resume().
  static void suspend();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier::sim
