#include "provider/local/watcher.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <future>

namespace espalier::local {
namespace {

// An eventfd stands for a pidfd: it becomes readable once.
UniqueFd process() { return UniqueFd(eventfd(0, EFD_CLOEXEC)); }

TEST(Watcher, TellsOfTheEndOnce) {
  std::promise<MachineId> ended;
  Watcher watcher([&](const MachineId& id) { ended.set_value(id); });  // a second call would throw
  UniqueFd fd = process();
  const int raw = fd.get();
  watcher.add(MachineId("i-1"), std::move(fd));
  eventfd_write(raw, 1);
  EXPECT_EQ(ended.get_future().get(), MachineId("i-1"));
}

TEST(Watcher, TellsOfWhatHadEndedBefore) {
  std::promise<MachineId> ended;
  Watcher watcher([&](const MachineId& id) { ended.set_value(id); });
  UniqueFd fd = process();
  eventfd_write(fd.get(), 1);
  watcher.add(MachineId("i-1"), std::move(fd));
  EXPECT_EQ(ended.get_future().get(), MachineId("i-1"));
}

TEST(Watcher, SaysNothingOfWhatWasRemoved) {
  std::promise<MachineId> ended;
  Watcher watcher([&](const MachineId& id) { ended.set_value(id); });
  watcher.add(MachineId("i-1"), process());
  watcher.remove(MachineId("i-1"));
  watcher.remove(MachineId("i-1"));
  UniqueFd fd = process();
  eventfd_write(fd.get(), 1);
  watcher.add(MachineId("i-2"), std::move(fd));
  EXPECT_EQ(ended.get_future().get(), MachineId("i-2"));
}

}  // namespace
}  // namespace espalier::local
