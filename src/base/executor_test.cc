#include "base/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

namespace espalier {
namespace {

TEST(ThreadPoolTest, RunsEveryTaskThatWasPostedFromEveryThread) {
  std::atomic<int> ran = 0;
  std::promise<void> all;
  constexpr int kEach = 500, kPosters = 4;
  ThreadPool pool(3);
  std::vector<std::thread> posters;
  for (int p = 0; p < kPosters; ++p)
    posters.emplace_back([&] {
      for (int i = 0; i < kEach; ++i)
        pool.post([&] {
          if (++ran == kEach * kPosters) all.set_value();
        });
    });
  for (std::thread& poster : posters) poster.join();
  all.get_future().wait();
  EXPECT_EQ(ran, kEach * kPosters);
}

TEST(ThreadPoolTest, OneThreadKeepsTheOrder) {
  ThreadPool pool(1);
  std::vector<int> order;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i) pool.post([&order, i] { order.push_back(i); });
  pool.post([&] { done.set_value(); });
  done.get_future().wait();
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ThreadPoolTest, SeveralThreadsRunAtTheSameTime) {
  ThreadPool pool(2);
  std::promise<void> first, second, both;
  pool.post([&] {
    first.set_value();
    second.get_future().wait();  // never comes when there is but one thread
    both.set_value();
  });
  pool.post([&] {
    first.get_future().wait();
    second.set_value();
  });
  both.get_future().wait();
}

TEST(ThreadPoolTest, TasksMayPost) {
  ThreadPool pool(1);
  std::promise<void> done;
  pool.post([&] { pool.post([&] { done.set_value(); }); });
  done.get_future().wait();
}

TEST(ThreadPoolTest, StopWaitsForWhatRunsAndDropsTheRest) {
  ThreadPool pool(1);
  std::promise<void> running, go_on;
  std::atomic<bool> finished = false, began = false;
  auto captured = std::make_shared<int>(0);
  const std::weak_ptr<int> alive = captured;
  pool.post([&] {
    running.set_value();
    go_on.get_future().wait();
    finished = true;
  });
  pool.post([&began, captured = std::move(captured)] { began = true; });
  running.get_future().wait();
  std::thread stopper([&] { pool.stop(); });
  while (!alive.expired()) std::this_thread::yield();  // stop() has dropped what waited
  EXPECT_FALSE(finished);
  go_on.set_value();
  stopper.join();
  EXPECT_TRUE(finished);
  EXPECT_FALSE(began);
  pool.post([&] { began = true; });
  pool.stop();  // again is no harm
  EXPECT_FALSE(began);
}

TEST(ManualExecutorTest, RunsNothingUntilTold) {
  ManualExecutor executor;
  int ran = 0;
  executor.post([&] { ++ran; });
  EXPECT_EQ(executor.waiting(), 1u);
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(executor.run_one());
  EXPECT_FALSE(executor.run_one());
  EXPECT_EQ(ran, 1);
}

TEST(ManualExecutorTest, RunsInOrderAndWhatTasksPostToo) {
  ManualExecutor executor;
  std::string order;
  executor.post([&] {
    order += 'a';
    executor.post([&] { order += 'c'; });
  });
  executor.post([&] { order += 'b'; });
  EXPECT_EQ(executor.run_all(), 3u);
  EXPECT_EQ(order, "abc");
}

TEST(ThreadPoolGrows, ATaskThatHangsHoldsUpNobody) {
  std::promise<void> release;
  std::promise<void> ran;
  ThreadPool pool(2);
  pool.post([&] { release.get_future().wait(); });
  pool.post([&] { ran.set_value(); });
  ran.get_future().wait();
  release.set_value();
}

TEST(ThreadPoolGrows, MakesNoMoreThreadsThanItMay) {
  std::atomic<int> at_once{0};
  std::atomic<int> most{0};
  std::promise<void> all;
  std::atomic<int> left{100};
  ThreadPool pool(3);
  for (int i = 0; i < 100; ++i)
    pool.post([&] {
      most = std::max(most.load(), ++at_once);
      --at_once;
      if (--left == 0) all.set_value();
    });
  all.get_future().wait();
  EXPECT_LE(most, 3);
}

}  // namespace
}  // namespace espalier
