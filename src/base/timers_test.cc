#include "base/timers.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

namespace espalier {
namespace {

Time at(std::int64_t millis) { return Time(Millis(millis)); }
Time soon(std::int64_t millis) { return SystemClock().now() + Millis(millis); }

TEST(ManualTimersTest, CallsWhatIsDueInOrderOfTimeThenOfSchedule) {
  ManualTimers timers;
  std::string order;
  timers.schedule(at(20), [&] { order += 'c'; });
  timers.schedule(at(10), [&] { order += 'a'; });
  timers.schedule(at(10), [&] { order += 'b'; });
  EXPECT_EQ(timers.run_due(at(9)), 0u);
  EXPECT_EQ(timers.next(), at(10));
  EXPECT_EQ(timers.run_due(at(20)), 3u);
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(timers.next(), std::nullopt);
}

TEST(ManualTimersTest, CancelTellsWhetherItCameInTime) {
  ManualTimers timers;
  int calls = 0;
  const auto first = timers.schedule(at(1), [&] { ++calls; });
  const auto second = timers.schedule(at(1), [&] { ++calls; });
  EXPECT_NE(first, 0u);
  EXPECT_TRUE(timers.cancel(first));
  EXPECT_FALSE(timers.cancel(first));
  EXPECT_EQ(timers.run_due(at(1)), 1u);
  EXPECT_FALSE(timers.cancel(second));
  EXPECT_FALSE(timers.cancel(12345));
  EXPECT_EQ(calls, 1);
}

TEST(ManualTimersTest, CallbacksMayScheduleAndCancel) {
  ManualTimers timers;
  std::string order;
  Timers::Id doomed = 0;
  timers.schedule(at(1), [&] {
    order += 'a';
    timers.schedule(at(2), [&] { order += 'b'; });
    EXPECT_TRUE(timers.cancel(doomed));
  });
  doomed = timers.schedule(at(2), [&] { order += 'x'; });
  EXPECT_EQ(timers.run_due(at(5)), 2u);
  EXPECT_EQ(order, "ab");
}

TEST(TimerThreadTest, CallsBackNotBeforeItsTime) {
  TimerThread timers;
  std::promise<Time> called;
  const Time due = soon(20);
  timers.schedule(due, [&] { called.set_value(SystemClock().now()); });
  EXPECT_GE(called.get_future().get(), due);
}

TEST(TimerThreadTest, TimesThatHavePassedAreDueAtOnce) {
  TimerThread timers;
  std::promise<void> called;
  timers.schedule(at(0), [&] { called.set_value(); });
  called.get_future().wait();
}

TEST(TimerThreadTest, ASoonerOneOvertakes) {
  TimerThread timers;
  std::promise<void> called;
  timers.schedule(soon(3'600'000), [] { ADD_FAILURE() << "an hour early"; });
  timers.schedule(soon(1), [&] { called.set_value(); });
  called.get_future().wait();
}

TEST(TimerThreadTest, CancelledIsNotCalled) {
  TimerThread timers;
  std::promise<void> later;
  const auto id = timers.schedule(soon(15), [] { ADD_FAILURE() << "it was cancelled"; });
  EXPECT_TRUE(timers.cancel(id));
  timers.schedule(soon(30), [&] { later.set_value(); });
  later.get_future().wait();
}

TEST(TimerThreadTest, CallbacksMaySchedule) {
  TimerThread timers;
  std::promise<void> done;
  int calls = 0;
  std::function<void()> again = [&] {
    ++calls < 5 ? static_cast<void>(timers.schedule(at(0), again)) : done.set_value();
  };
  timers.schedule(at(0), again);
  done.get_future().wait();
  EXPECT_EQ(calls, 5);
}

TEST(TimerThreadTest, EndsWithoutCallingWhatIsNotDue) {
  TimerThread timers;
  timers.schedule(soon(3'600'000), [] { ADD_FAILURE() << "an hour early"; });
}

TEST(TimerThreadTest, SeveralThreadsScheduleAndCancel) {
  std::atomic<int> called = 0, cancelled = 0;
  {
    TimerThread timers;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          const auto id = timers.schedule(soon(i % 3), [&] { ++called; });
          if (i % 2 == 0 && timers.cancel(id)) ++cancelled;
        }
      });
    for (std::thread& thread : threads) thread.join();
    std::promise<void> after_all;
    timers.schedule(soon(3), [&] { after_all.set_value(); });
    after_all.get_future().wait();
  }
  EXPECT_EQ(called + cancelled, 800);
}

}  // namespace
}  // namespace espalier
