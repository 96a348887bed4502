#include "world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconcile/example_wish_test.h"

namespace espalier::sim {
namespace {

using reconcile::ClusterChange;
using reconcile::ClusterWish;
using reconcile::GroupWish;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Millis kMinute{60'000};
constexpr const char* kP5 = "ml.p5.48xlarge";
constexpr const char* kCpu = "ml.c5.4xlarge";

GroupWish group(const std::string& name, NodeType type, const std::string& instance_type, int count) {
  return reconcile::example_group(name, type, instance_type, count, name + "-part");
}

ClusterWish example(int workers = 8) {
  return reconcile::example_cluster(
      {group("ctl", NodeType::Controller, "ml.m5.xlarge", 1), group("login", NodeType::Login, kCpu, 1),
       group("p5", NodeType::Compute, kP5, workers), group("cpu", NodeType::Compute, "ml.m5.large", 2)});
}

ClusterChange scale(const std::string& name, const std::string& type, int count) {
  ClusterChange change;
  change.groups = {group(name, NodeType::Compute, type, count)};
  return change;
}

class WorldTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_THAT(world_.broken, IsEmpty()); }
  bool grows() {
    return world_.run(10 * kMinute, [&] { return world_.all_ready(); });
  }
  World world_{7, example()};
};

TEST_F(WorldTest, GrowsToFullSize) {
  ASSERT_TRUE(grows());
  EXPECT_EQ(world_.state().cluster.status, ClusterStatus::InService);
  EXPECT_EQ(world_.live_machines(), 12);
  EXPECT_EQ(world_.slurm.run_job("p5-part", 8).size(), 8U);
}

TEST_F(WorldTest, ControllerComesFirstThenAllOthersTogether) {
  ASSERT_TRUE(grows());
  const Time controller = world_.launched_at.at("ctl-1");
  for (const auto& [node, time] : world_.launched_at)
    if (node != "ctl-1") {
      EXPECT_GT(time, controller) << node;
      EXPECT_EQ(time, world_.launched_at.at("p5-1")) << node;
    }
}

TEST_F(WorldTest, InServiceNeedsNoWorker) {
  world_.set_capacity(kP5, 0);
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.state().cluster.status == ClusterStatus::InService; }));
  EXPECT_EQ(world_.ready("p5"), 0);
  EXPECT_EQ(world_.state().groups.at("p5").status, GroupStatus::InService);
}

TEST_F(WorldTest, AShortageInOneGroupHoldsUpNoOther) {
  World alone(7, example());
  ASSERT_TRUE(alone.run(kMinute, [&] { return alone.ready("cpu") == 2; }));
  const Millis usual = alone.now() - alone.launched_at.at("ctl-1");

  world_.set_capacity(kP5, 0);
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.ready("cpu") == 2; }));
  EXPECT_LE(world_.now() - world_.launched_at.at("ctl-1"), usual);
}

TEST_F(WorldTest, WhatThereIsWorksAndTheRestComesWhenItCan) {
  world_.set_capacity(kP5, 6);
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.ready("p5") == 6; }));
  EXPECT_EQ(world_.slurm.run_job("p5-part", 6).size(), 6U);
  EXPECT_THAT(world_.state().cluster.failure_message, HasSubstr("p5: 2 of 8 instances wait: no capacity"));
  EXPECT_FALSE(world_.run(5 * kMinute, [&] { return world_.ready("p5") > 6; }));
  world_.set_capacity(kP5, 8);
  ASSERT_TRUE(world_.run(Millis(2000), [&] { return world_.ready("p5") == 8; }));
  EXPECT_EQ(world_.state().cluster.failure_message, "");
}

TEST_F(WorldTest, RetriesWithGrowingDelayAndOneEventForAFault) {
  world_.set_capacity(kP5, 6);
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.ready("p5") == 6; }));
  const int before = world_.launch_calls[kP5];
  world_.run(10 * kMinute);
  const int tries = world_.launch_calls[kP5] - before;
  // 1 + 2 + 4 + 8 + 16 s, then every 30 s, one slot to see.
  EXPECT_GE(tries, 20);
  EXPECT_LE(tries, 30);
  int failures = 0;
  for (const auto& text : world_.event_texts()) failures += text.starts_with("Failed to provision") ? 1 : 0;
  EXPECT_EQ(failures, 1);
}

TEST_F(WorldTest, ScalesDownWithoutTouchingABusyNode) {
  ASSERT_TRUE(grows());
  const auto job = world_.slurm.run_job("p5-part", 3);
  world_.change(scale("p5", kP5, 3));
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.ready("p5") == 3 && world_.live_machines() == 7; }));
  for (const auto& node : job) EXPECT_EQ(world_.slot(node).state, SlotState::Ready);
}

TEST_F(WorldTest, ABusyNodeThatHasToGoIsDrainedAndWaitedFor) {
  ASSERT_TRUE(grows());
  const auto job = world_.slurm.run_job("p5-part", 8);
  world_.change(scale("p5", kP5, 7));
  EXPECT_FALSE(world_.run(kMinute, [&] { return world_.live_machines() < 12; }));
  world_.slurm.end_job(job);
  // The simulated slurmctld tells of the change when it is next asked.
  world_.change(scale("cpu", "ml.m5.large", 3));
  EXPECT_TRUE(world_.run(kMinute, [&] { return world_.ready("p5") == 7 && world_.all_ready(); }));
}

TEST_F(WorldTest, ADeadMachineIsReplacedInTheSameSlot) {
  ASSERT_TRUE(grows());
  const Slot before = world_.slot("p5-3");
  world_.kill(before.machine->id);
  ASSERT_TRUE(world_.run(kMinute, [&] {
    const Slot& now = world_.slot("p5-3");
    return now.machine && now.machine->id != before.machine->id && world_.all_ready();
  }));
  EXPECT_EQ(world_.slot("p5-3").id, before.id);
  EXPECT_NE(world_.slot("p5-3").machine->address, before.machine->address);
}

TEST_F(WorldTest, ADeadControllerIsReplacedAtTheSameAddress) {
  ASSERT_TRUE(grows());
  const Slot before = world_.slot("ctl-1");
  world_.kill(before.machine->id);
  ASSERT_TRUE(world_.run(kMinute, [&] {
    const Slot& now = world_.slot("ctl-1");
    return now.machine && now.machine->id != before.machine->id && world_.all_ready();
  }));
  EXPECT_EQ(world_.slot("ctl-1").machine->address, before.machine->address);
}

TEST_F(WorldTest, AddsAndDeletesGroups) {
  ASSERT_TRUE(grows());
  world_.change(scale("more", kP5, 4));
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.all_ready() && world_.ready("more") == 4; }));
  EXPECT_EQ(world_.slurm.run_job("more-part", 4).size(), 4U);
  ClusterChange drop;
  drop.groups_to_delete = {"cpu"};
  world_.change(drop);
  ASSERT_TRUE(world_.run(kMinute, [&] { return !world_.state().groups.contains("cpu"); }));
  ASSERT_TRUE(world_.run(kMinute, [&] { return !world_.slurm.nodes().contains("cpu-1"); }));
  EXPECT_EQ(world_.live_machines(), 14);
}

TEST_F(WorldTest, ManyArrivalsCostFewReconfigures) {
  World big(3, example(60));
  ASSERT_TRUE(big.run(kMinute, [&] { return big.all_ready(); }));
  EXPECT_LE(big.slurm.reconfigures, 3);
  EXPECT_THAT(big.broken, IsEmpty());
}

TEST_F(WorldTest, AFileThatSlurmRefusesHoldsUpNoNodeAndIsTriedAgain) {
  ASSERT_TRUE(grows());
  world_.slurm.refuse = {"Reconfigure"};
  world_.change(scale("p5", kP5, 10));
  EXPECT_FALSE(world_.run(kMinute, [&] { return world_.ready("p5") > 8; }));
  EXPECT_NE(world_.state().slurm.failure, "");
  EXPECT_EQ(world_.slurm.run_job("p5-part", 8).size(), 8U);
  world_.slurm.refuse = {};
  EXPECT_TRUE(world_.run(kMinute, [&] { return world_.ready("p5") == 10; }))
      << json::serialize(to_json(world_.slot("p5-10"))) << json::serialize(to_json(world_.slurm.view()));
  EXPECT_EQ(world_.state().slurm.failure, "");
}

TEST_F(WorldTest, ANodeThatSlurmHasForgottenJoinsAgain) {
  ASSERT_TRUE(grows());
  const Slot before = world_.slot("p5-3");
  world_.slurm_forgets("p5-3");
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.slot("p5-3").state != SlotState::Ready; }));
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.all_ready(); }));
  EXPECT_EQ(world_.slot("p5-3").machine->id, before.machine->id);
  EXPECT_EQ(world_.slurm.run_job("p5-part", 8).size(), 8U);
}

TEST_F(WorldTest, OnlyTheControllersAgentTellsOfSlurm) {
  ASSERT_TRUE(grows());
  const auto liar = world_.slot("p5-1").machine->id;
  world_.hear(reconcile::NodesSeen{liar, {{"p5-3", "down", world_.slot("p5-3").machine->address, "Action:Replace"}}});
  world_.hear(reconcile::NodesSeen{liar, {{"p5-4", "down~", "0.0.0.0", ""}}});
  world_.run(kMinute);
  EXPECT_EQ(world_.launch_calls[kP5], 8) << "a machine was replaced";
  for (const auto& text : world_.event_texts()) EXPECT_THAT(text, testing::Not(HasSubstr("joins again")));
}

TEST_F(WorldTest, ATerminationThatFailsIsTriedForEverAndToldOnce) {
  ASSERT_TRUE(grows());
  world_.terminations_fail = true;
  world_.change(scale("p5", kP5, 7));
  world_.run(10 * kMinute);
  EXPECT_EQ(world_.live_machines(), 12);
  EXPECT_THAT(world_.event_texts(), Contains(HasSubstr("Failed to terminate")).Times(1));
  EXPECT_THAT(world_.event_texts(), Contains(HasSubstr("is currently in progress")).Times(1));
  world_.terminations_fail = false;
  EXPECT_TRUE(world_.run(kMinute, [&] { return world_.live_machines() == 11; }));
}

TEST_F(WorldTest, DeletesWhileGrowing) {
  world_.run(Millis(700));
  world_.remove();
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.gone(); }));
  EXPECT_EQ(world_.live_machines(), 0);
}

TEST_F(WorldTest, DeletesWhileNothingCanBeHad) {
  world_.set_capacity("ml.m5.xlarge", 0);
  world_.run(kMinute);
  world_.remove();
  EXPECT_TRUE(world_.run(kMinute, [&] { return world_.gone(); }));
}

// A crash between any two effects, before and after each: the same cluster in the end, nothing twice, nothing leaked.
class CrashTest : public testing::TestWithParam<bool> {};

TEST_P(CrashTest, AtEveryEffectOfAWholeLife) {
  World model(1, example(4));
  ASSERT_TRUE(model.run(kMinute, [&] { return model.all_ready(); }));
  for (int nth = 1; nth <= model.effects; ++nth) {
    World world(1, example(4));
    world.crash_at(nth, GetParam());
    ASSERT_TRUE(world.run(10 * kMinute, [&] { return world.all_ready(); })) << "crash at effect " << nth;
    EXPECT_EQ(world.crashes, 1);
    EXPECT_EQ(world.live_machines(), 8) << "crash at effect " << nth;
    world.crash_at(1 + nth % 5, GetParam());
    world.remove();
    // The wish itself may be lost with the process before it was stored: its caller had no answer.
    if (!world.run(kMinute, [&] { return world.gone(); })) {
      world.remove();
      ASSERT_TRUE(world.run(kMinute, [&] { return world.gone(); })) << "crash at effect " << nth;
    }
    EXPECT_EQ(world.live_machines(), 0) << "crash at effect " << nth;
    EXPECT_THAT(world.broken, IsEmpty()) << "crash at effect " << nth;
  }
}

// An order to slurmctld whose outcome is not known must not leave the cluster stuck.
TEST_P(CrashTest, AtEveryEffectOfScalingDownAndUpAgain) {
  bool crashed = true;
  for (int nth = 1; crashed; ++nth) {
    World world(1, example(6));
    ASSERT_TRUE(world.run(kMinute, [&] { return world.all_ready(); }));
    world.crash_at(nth, GetParam());
    world.change(scale("p5", kP5, 2));
    world.run(Millis(1000));
    world.change(scale("p5", kP5, 5));
    world.run(Millis(2000));
    crashed = world.crashes > 0;
    if (world.state().groups.at("p5").target_count != 5)
      world.change(scale("p5", kP5, 5));  // lost before it was stored
    ASSERT_TRUE(world.run(10 * kMinute, [&] { return world.all_ready(); })) << "crash at effect " << nth;
    EXPECT_EQ(world.slurm.run_job("p5-part", 5).size(), 5U) << "crash at effect " << nth;
    EXPECT_EQ(world.live_machines(), 9) << "crash at effect " << nth;
    EXPECT_THAT(world.broken, IsEmpty()) << "crash at effect " << nth;
    ASSERT_LT(nth, 200);
  }
}

INSTANTIATE_TEST_SUITE_P(BeforeAndAfter, CrashTest, testing::Bool());

}  // namespace
}  // namespace espalier::sim
