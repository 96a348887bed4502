#include "fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdlib>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace espalier::sim {

namespace {

constexpr std::size_t kStackBytes = 256 << 10;

// Stacks are kept for the next fiber: mapping one costs more than a switch.
class Stacks {
 public:
  void* take() {
    if (!free_.empty()) {
      void* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void* stack =
        mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) std::abort();
    return stack;
  }
  void give_back(void* stack) { free_.push_back(stack); }
  ~Stacks() {
    for (void* stack : free_) munmap(stack, kStackBytes);
  }

 private:
  std::vector<void*> free_;
};

thread_local Stacks stacks;
thread_local Fiber* running = nullptr;

// What the address sanitizer must be told at every change of stacks.
class Switch {
 public:
#if defined(__SANITIZE_ADDRESS__)
  static void leave(void** fake, const void* bottom, std::size_t size) {
    __sanitizer_start_switch_fiber(fake, bottom, size);
  }
  static void arrive(void* fake, const void** bottom, std::size_t* size) {
    __sanitizer_finish_switch_fiber(fake, bottom, size);
  }
#else
  static void leave(void**, const void*, std::size_t) {}
  static void arrive(void*, const void**, std::size_t*) {}
#endif
};

}  // namespace

struct Fiber::Impl {
  std::function<void()> body;
  void* stack = nullptr;
  ucontext_t own{};
  ucontext_t caller{};
  Fiber* resumed_from = nullptr;
  bool ended = false;
  void* fake = nullptr;
  void* caller_fake = nullptr;
  const void* caller_bottom = nullptr;
  std::size_t caller_size = 0;

  static void enter() {
    Impl& self = *running->impl_;
    Switch::arrive(nullptr, &self.caller_bottom, &self.caller_size);
    self.body();
    self.body = nullptr;
    self.ended = true;
    Switch::leave(nullptr, self.caller_bottom, self.caller_size);  // for good
    setcontext(&self.caller);
  }
};

Fiber::Fiber(std::function<void()> body) : impl_(std::make_unique<Impl>()) {
  impl_->body = std::move(body);
  impl_->stack = stacks.take();
  getcontext(&impl_->own);
  impl_->own.uc_stack.ss_sp = impl_->stack;
  impl_->own.uc_stack.ss_size = kStackBytes;
  makecontext(&impl_->own, &Impl::enter, 0);
}

Fiber::~Fiber() {
  if (!impl_->ended) std::abort();  // what is on its stack would never be destroyed
  stacks.give_back(impl_->stack);
}

void Fiber::resume() {
  impl_->resumed_from = std::exchange(running, this);
  Switch::leave(&impl_->caller_fake, impl_->stack, kStackBytes);
  swapcontext(&impl_->caller, &impl_->own);
  Switch::arrive(impl_->caller_fake, nullptr, nullptr);
  running = impl_->resumed_from;
}

bool Fiber::ended() const { return impl_->ended; }
Fiber* Fiber::current() { return running; }

void Fiber::suspend() {
  Impl& self = *running->impl_;
  Switch::leave(&self.fake, self.caller_bottom, self.caller_size);
  swapcontext(&self.own, &self.caller);
  Switch::arrive(self.fake, &self.caller_bottom, &self.caller_size);
}

}  // namespace espalier::sim
