#include "agent/outbox.h"

#include <gtest/gtest.h>

namespace espalier::agent {
namespace {

constexpr Millis kAtOnce{0};
const NodeView kIdle{"n-1", "idle", "10.0.0.1", ""};
const NodeView kDown{"n-1", "down", "10.0.0.1", "x"};
const NodeView kOther{"n-2", "idle", "10.0.0.2", ""};

CommandResult result(const std::string& id) { return {id, true, "", {}}; }

TEST(Outbox, RepeatsUntilAcknowledged) {
  Outbox outbox("boot");
  outbox.add_result(result("a"));
  outbox.set_nodes({kIdle}, true);
  const Report first = outbox.next_report(kAtOnce);
  EXPECT_EQ(first.boot, "boot");
  ASSERT_EQ(first.results.size(), 1U);
  EXPECT_EQ(first.nodes, std::vector{kIdle});
  EXPECT_EQ(outbox.next_report(kAtOnce).results.size(), 1U);
  outbox.acknowledge(first);
  EXPECT_TRUE(outbox.next_report(kAtOnce).results.empty());
  EXPECT_TRUE(outbox.next_report(kAtOnce).nodes.empty());
}

TEST(Outbox, TellsOnlyWhatChanged) {
  Outbox outbox("b");
  outbox.set_nodes({kIdle, kOther}, true);
  outbox.acknowledge(outbox.next_report(kAtOnce));
  outbox.set_nodes({kIdle}, false);
  EXPECT_TRUE(outbox.next_report(kAtOnce).nodes.empty());
  outbox.set_nodes({kDown, kOther}, true);
  EXPECT_EQ(outbox.next_report(kAtOnce).nodes, std::vector{kDown});
}

TEST(Outbox, AChangeDuringAReportIsNotLost) {
  Outbox outbox("b");
  outbox.set_nodes({kIdle}, true);
  const Report sent = outbox.next_report(kAtOnce);
  outbox.set_nodes({kDown}, true);
  outbox.acknowledge(sent);
  EXPECT_EQ(outbox.next_report(kAtOnce).nodes, std::vector{kDown});
}

TEST(Outbox, ANodeThatIsGoneIsNewWhenItReturns) {
  Outbox outbox("b");
  outbox.set_nodes({kIdle, kOther}, true);
  outbox.acknowledge(outbox.next_report(kAtOnce));
  outbox.set_nodes({kOther}, true);
  outbox.set_nodes({kIdle, kOther}, true);
  EXPECT_EQ(outbox.next_report(kAtOnce).nodes, std::vector{kIdle});
}

TEST(Outbox, TellsANewControlPlaneEverything) {
  Outbox outbox("b");
  outbox.set_nodes({kIdle, kOther}, true);
  outbox.set_daemons({{"munged", true, ""}});
  outbox.acknowledge(outbox.next_report(kAtOnce));
  outbox.tell_all_again();
  const Report report = outbox.next_report(kAtOnce);
  EXPECT_EQ(report.nodes, (std::vector{kIdle, kOther}));
  EXPECT_EQ(report.daemons.size(), 1U);
}

TEST(Outbox, HeartbeatsCarryTheDaemons) {
  Outbox outbox("b");
  outbox.set_daemons({{"slurmd", false, "why"}});
  outbox.acknowledge(outbox.next_report(kAtOnce));
  const Report heartbeat = outbox.next_report(kAtOnce);
  ASSERT_EQ(heartbeat.daemons.size(), 1U);
  EXPECT_EQ(heartbeat.daemons[0].message, "why");
  outbox.add_result(result("a"));
  EXPECT_TRUE(outbox.next_report(kAtOnce).daemons.empty());
}

TEST(Outbox, HeartbeatsCarryTheHealthAndLostDevicesDoNotWait) {
  Outbox outbox("b");
  HealthView health{"i-1", {}, 8, 0, {{"/", 5, 10}}};
  outbox.set_health(health);
  EXPECT_TRUE(outbox.next_report(kAtOnce).health);
  outbox.acknowledge(outbox.next_report(kAtOnce));
  health.disks[0].free_bytes = 4;
  outbox.set_health(health);
  outbox.add_result(result("a"));
  EXPECT_FALSE(outbox.next_report(kAtOnce).health) << "it waits for the next heartbeat";
  health.gpus = 7;
  outbox.set_health(health);
  const Report report = outbox.next_report(kAtOnce);
  ASSERT_TRUE(report.health);
  EXPECT_EQ(report.health->gpus, 7);
  outbox.acknowledge(report);
  EXPECT_EQ(outbox.next_report(kAtOnce).health->disks[0].free_bytes, 4) << "a heartbeat";
}

TEST(Outbox, RepeatsTheResultOfACommandThatComesTwice) {
  Outbox outbox("b");
  EXPECT_FALSE(outbox.repeat_result("a"));
  outbox.add_result(result("a"));
  EXPECT_TRUE(outbox.repeat_result("a"));
  EXPECT_EQ(outbox.next_report(kAtOnce).results.size(), 1U);  // still unsent: not twice
  outbox.acknowledge(outbox.next_report(kAtOnce));
  EXPECT_TRUE(outbox.repeat_result("a"));
  EXPECT_EQ(outbox.next_report(kAtOnce).results.size(), 1U);
}

TEST(Outbox, IsBounded) {
  Outbox outbox("b");
  for (std::size_t i = 0; i <= kMaxResults; ++i) outbox.add_result(result(std::to_string(i)));
  const Report report = outbox.next_report(kAtOnce);
  EXPECT_EQ(report.results.size(), kMaxResults);
  EXPECT_EQ(report.results.front().id, "1");
  EXPECT_FALSE(outbox.repeat_result("0"));
}

TEST(Outbox, ReportsAreOfBoundedSize) {
  Outbox outbox("b");
  for (const char* id : {"a", "b", "c"}) outbox.add_result({id, true, "", {{true, std::string(1'500'000, 'x')}}});
  std::vector<NodeView> nodes;
  for (std::size_t i = 0; i <= kMaxNodesInReport; ++i) nodes.push_back({"n-" + std::to_string(i), "idle", "", ""});
  outbox.set_nodes(nodes, true);
  const Report first = outbox.next_report(kAtOnce);
  EXPECT_EQ(first.results.size(), 1U);
  EXPECT_EQ(first.nodes.size(), kMaxNodesInReport);
  outbox.acknowledge(first);
  const Report second = outbox.next_report(kAtOnce);
  EXPECT_EQ(second.results.front().id, "b");
  EXPECT_EQ(second.nodes.size(), 1U);
}

}  // namespace
}  // namespace espalier::agent
