// The queue of the pools: fairness, closing and opening, throttling, all under a clock of the test's own.
#include "reconcile/pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace espalier::reconcile {
namespace {

const std::string kPool = "ml.p5.48xlarge";

Pools::Group group(const std::string& name) { return {ClusterId("cluster"), name}; }

// A pool with so many machines left; every launch is answered at once.
struct Cloud {
  explicit Cloud(int machines, PoolSettings settings = {}) : left(machines), pools(settings, Random(1)) {}

  void wish(const std::string& name, int count) {
    wished[name] += count;
    pools.demand(group(name), kPool, wished[name], 0, false);
  }
  // Until nothing moves at this time.
  void settle() {
    while (true) {
      const auto decision = pools.decide(now);
      wake = decision.wake;
      if (decision.grants.empty()) return;
      for (const auto& grant : decision.grants)
        for (int i = 0; i < grant.count; ++i) launch(grant.to.name);
    }
  }
  void launch(const std::string& name) {
    ++calls;
    pools.launched(group(name), kPool);
    const bool has = left > 0;
    if (has) {
      --left;
      ++got[name];
      --wished[name];
    }
    pools.demand(group(name), kPool, wished[name], 0, false);
    pools.answered(group(name), kPool, has ? FailureClass::None : FailureClass::Shortage, "none left", now);
  }
  void run(Millis length) {
    const Time end = now + length;
    for (settle(); wake && *wake <= end; settle()) now = std::max(now, *wake);
    now = end;
  }

  int left;
  Pools pools;
  Time now{Millis(1'000'000)};
  std::optional<Time> wake;
  std::map<std::string, int> wished;
  std::map<std::string, int> got;
  int calls = 0;
};

TEST(Pools, AnOpenPoolGivesAllAtOnce) {
  Cloud cloud(100);
  cloud.wish("a", 40);
  cloud.settle();
  EXPECT_EQ(cloud.got["a"], 40);
  EXPECT_EQ(cloud.calls, 40);
}

TEST(Pools, AClosedPoolIsAskedByOneAtGrowingIntervals) {
  Cloud cloud(0);
  cloud.wish("a", 500);
  cloud.settle();
  const int first = cloud.calls;
  EXPECT_LE(first, 64);
  cloud.run(Millis(31'000));  // after 1, 2, 4, 8 and 16 s
  EXPECT_GE(cloud.calls - first, 4);
  EXPECT_LE(cloud.calls - first, 6);
}

TEST(Pools, WhatReturnsComesQuicklyOnceTheProbeSucceeds) {
  Cloud cloud(0);
  cloud.wish("a", 500);
  cloud.run(Millis(10'000));
  cloud.left = 500;
  cloud.run(Millis(31'000));
  EXPECT_EQ(cloud.got["a"], 500);
}

TEST(Pools, ReopeningAsksAtOnce) {
  Cloud cloud(0);
  cloud.wish("a", 4);
  cloud.run(Millis(60'000));
  cloud.left = 4;
  cloud.pools.reopen();
  cloud.settle();
  EXPECT_EQ(cloud.got["a"], 4);
}

TEST(Pools, WhatReturnsIsSharedAndTheSmallWishIsCompleteFirst) {
  Cloud cloud(0);
  cloud.wish("big", 100);
  cloud.wish("small", 3);
  cloud.wish("middle", 20);
  cloud.settle();
  cloud.left = 13;
  cloud.pools.reopen();
  cloud.settle();
  EXPECT_EQ(cloud.got["small"], 3);
  EXPECT_EQ(cloud.got["middle"], 5);
  EXPECT_EQ(cloud.got["big"], 5);
}

TEST(Pools, WhoComesLaterStartsLevel) {
  Cloud cloud(0);
  cloud.wish("a", 100);
  cloud.settle();
  for (int i = 0; i < 20; ++i) {
    cloud.left = 1;
    cloud.pools.reopen();
    cloud.settle();
  }
  cloud.wish("b", 100);
  for (int i = 0; i < 20; ++i) {
    cloud.left = 1;
    cloud.pools.reopen();
    cloud.settle();
  }
  EXPECT_NEAR(cloud.got["a"], 30, 1);
  EXPECT_NEAR(cloud.got["b"], 10, 1);
}

TEST(Pools, AGroupThatHangsLeavesOtherPoolsAlone) {
  Pools pools({}, Random(1));
  pools.demand(group("a"), "hangs", 100, 0, false);
  pools.demand(group("b"), kPool, 10, 0, false);
  for (const auto& grant : pools.decide({}).grants)
    for (int i = 0; i < grant.count; ++i) pools.launched(grant.to, grant.pool);
  pools.demand(group("b"), kPool, 5, 0, false);
  const auto grants = pools.decide(Time(Millis(1))).grants;
  ASSERT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants[0].to.name, "b");
  EXPECT_EQ(grants[0].count, 5);
}

TEST(Pools, AControllerGoesFirst) {
  PoolSettings one;
  one.in_flight = 1;
  Pools pools(one, Random(1));
  pools.demand(group("a"), kPool, 10, 0, false);
  pools.demand(group("ctl"), kPool, 1, 0, true);
  const auto grants = pools.decide({}).grants;
  ASSERT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants[0].to.name, "ctl");
}

TEST(Pools, GrantsThatAreReturnedGoToOthers) {
  PoolSettings two;
  two.in_flight = 2;
  Pools pools(two, Random(1));
  pools.demand(group("a"), kPool, 2, 0, false);
  ASSERT_EQ(pools.decide({}).grants.size(), 1U);
  pools.demand(group("b"), kPool, 2, 0, false);
  EXPECT_TRUE(pools.decide({}).grants.empty());
  pools.demand(group("a"), kPool, 0, 2, false);
  const auto grants = pools.decide({}).grants;
  ASSERT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants[0].to.name, "b");
}

TEST(Pools, GroupsAreToldOnceThatAPoolIsClosedAndOpen) {
  Cloud cloud(0);
  cloud.wish("a", 1);
  auto decision = cloud.pools.decide(cloud.now);
  cloud.launch("a");
  decision = cloud.pools.decide(cloud.now);
  ASSERT_EQ(decision.notices.size(), 1U);
  EXPECT_EQ(decision.notices[0].closed->message, "none left");
  EXPECT_TRUE(cloud.pools.decide(cloud.now).notices.empty());
  cloud.left = 1;
  cloud.now = *decision.wake;
  ASSERT_EQ(cloud.pools.decide(cloud.now).grants.size(), 1U);
  cloud.launch("a");
  cloud.wish("b", 1);
  EXPECT_TRUE(cloud.pools.closed(cloud.now).empty());
}

// EC2's bucket: so many at once, then so many a second. All that it allows is used, within 1 %.
TEST(Pools, ThrottlingUsesWhatTheBucketAllows) {
  Pools pools({}, Random(1));
  const int wished = 3000;
  int waiting = wished;
  double tokens = 1000;
  Time now{};
  Time filled = now;
  int calls = 0;
  pools.demand(group("a"), kPool, waiting, 0, false);
  while (waiting > 0) {
    const auto decision = pools.decide(now);
    int granted = 0;
    for (const auto& grant : decision.grants) granted += grant.count;
    tokens = std::min(1000.0, tokens + 2.0 * std::chrono::duration<double>(now - filled).count());
    filled = now;
    for (int i = 0; i < granted; ++i) {
      ++calls;
      pools.launched(group("a"), kPool);
      const bool has = tokens >= 1;
      if (has) {
        tokens -= 1;
        --waiting;
      }
      pools.demand(group("a"), kPool, waiting, 0, false);
      pools.answered(group("a"), kPool, has ? FailureClass::None : FailureClass::Throttling, "slow down", now);
    }
    if (granted == 0) {
      ASSERT_TRUE(decision.wake);
      now = *decision.wake;
    }
  }
  const double best = (wished - 1000) / 2.0;
  EXPECT_LE(std::chrono::duration<double>(now.time_since_epoch()).count(), 1.01 * best);
  EXPECT_LE(calls, 2 * wished);
}

RC_GTEST_PROP(Pools, NeverGrantMoreThanIsWishedAndEndWithAllThatThereIs, ()) {
  const auto wishes = *rc::gen::container<std::vector<int>>(*rc::gen::inRange(1, 6), rc::gen::inRange(1, 40));
  Cloud cloud(*rc::gen::inRange(0, 100));
  const int there = cloud.left;
  int wished = 0;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    cloud.wish("g" + std::to_string(i), wishes[i]);
    wished += wishes[i];
  }
  cloud.run(Millis(200'000));
  int got = 0;
  for (const auto& [name, count] : cloud.got) {
    RC_ASSERT(cloud.wished[name] >= 0);
    got += count;
  }
  RC_ASSERT(got == std::min(there, wished));
}

}  // namespace
}  // namespace espalier::reconcile
