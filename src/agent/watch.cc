#include "agent/watch.h"

#include "agent/slurm_text.h"

namespace espalier::agent {

namespace {
constexpr Millis kLookTimeout{10'000};
}  // namespace

Watch::Watch(RunCommand run, Seen seen) : run_(std::move(run)), seen_(std::move(seen)), thread_([this] { loop(); }) {}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void Watch::look_closely_at(std::string hostlist) {
  {
    const std::lock_guard lock(mutex_);
    closely_ = std::move(hostlist);
  }
  wake_.notify_all();
}

void Watch::poke() {
  {
    const std::lock_guard lock(mutex_);
    poked_ = true;
  }
  wake_.notify_all();
}

void Watch::loop() {
  auto wide_look_due = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const bool wide = std::exchange(poked_, false) || std::chrono::steady_clock::now() >= wide_look_due;
    const std::string hostlist = wide ? "" : closely_;
    lock.unlock();
    if (wide || !hostlist.empty()) look(hostlist);
    const auto now = std::chrono::steady_clock::now();
    if (wide) wide_look_due = now + kWideLook;
    lock.lock();
    const bool close = !closely_.empty();
    wake_.wait_until(lock, close ? std::min(now + kCloseLook, wide_look_due) : wide_look_due,
                     [&] { return stopping_ || poked_ || closely_.empty() == close; });
  }
}

bool Watch::look(const std::string& hostlist) {
  std::vector<std::string> argv{"sinfo", "-a", "-h", "-N", "-o", kNodeFormat};
  if (!hostlist.empty()) argv.insert(argv.end(), {"-n", hostlist});
  const auto text = run_(argv, kLookTimeout);
  if (text) seen_(parse_nodes(*text), hostlist.empty());
  return text.has_value();
}

}  // namespace espalier::agent
