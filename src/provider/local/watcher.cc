#include "provider/local/watcher.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>

namespace espalier::local {

namespace {

void watch_for_input(int epoll, int fd, std::uint64_t number) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

Watcher::Watcher(std::function<void(const MachineId&)> ended)
    : ended_(std::move(ended)), epoll_(epoll_create1(EPOLL_CLOEXEC)), stop_(eventfd(0, EFD_CLOEXEC)) {
  watch_for_input(epoll_.get(), stop_.get(), 0);
  thread_ = std::thread([this] { run(); });
}

Watcher::~Watcher() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void Watcher::add(const MachineId& id, UniqueFd process) {
  remove(id);
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = next_number_++;
  const int fd = process.get();
  ids_[number] = id;
  watches_[id] = {number, std::move(process)};
  watch_for_input(epoll_.get(), fd, number);
}

void Watcher::remove(const MachineId& id) {
  const std::lock_guard lock(mutex_);
  const auto watch = watches_.find(id);
  if (watch == watches_.end()) return;
  ids_.erase(watch->second.number);
  watches_.erase(watch);  // closing the pidfd takes it out of the epoll set
}

void Watcher::run() {
  std::array<epoll_event, 64> events{};
  while (true) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      if (events[static_cast<std::size_t>(i)].data.u64 == 0) return;
      report(events[static_cast<std::size_t>(i)].data.u64);
    }
  }
}

void Watcher::report(std::uint64_t number) {
  MachineId id;
  {
    const std::lock_guard lock(mutex_);
    const auto found = ids_.find(number);
    if (found == ids_.end()) return;
    id = found->second;
    ids_.erase(found);
    watches_.erase(id);
  }
  ended_(id);
}

}  // namespace espalier::local
