// Deep health checks in the simulated world: by order of a user, and of new machines before their first job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconcile/example_wish_test.h"
#include "world.h"

namespace espalier::sim {
namespace {

using reconcile::GroupCheck;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Millis kMinute{60'000};
constexpr auto kStress = CheckKind::InstanceStress;
constexpr auto kConnectivity = CheckKind::InstanceConnectivity;

reconcile::ClusterWish example(const std::vector<std::string>& on_start = {}) {
  auto p5 = reconcile::example_group("p5", NodeType::Compute, "ml.p5.48xlarge", 6);
  if (!on_start.empty()) p5.spec["OnStartDeepHealthChecks"] = to_json(on_start);
  return reconcile::example_cluster(
      {reconcile::example_group("ctl", NodeType::Controller, "ml.m5.xlarge", 1), std::move(p5)});
}

class HealthCheckTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(settles()); }
  void TearDown() override { EXPECT_THAT(world_.broken, IsEmpty()); }
  bool settles(Millis length = 10 * kMinute) {
    return world_.run(length, [&] { return world_.all_ready(); });
  }
  MachineId machine(const std::string& node) { return world_.slot(node).machine->id; }
  Result<reconcile::UserAnswer> check(const std::vector<std::string>& nodes = {},
                                      const std::vector<CheckKind>& kinds = {kStress}) {
    GroupCheck group{"p5", {}, kinds};
    for (const auto& node : nodes) group.machines.push_back(machine(node));
    world_.ask(reconcile::UserChecksHealth{{{group}}});
    world_.run(Millis(0));
    return world_.answers.back();
  }
  int checking() {
    int count = 0;
    for (const auto& [id, slot] : world_.state().slots) count += slot.state == SlotState::Checking ? 1 : 0;
    return count;
  }
  int events(const std::string& part) {
    int count = 0;
    for (const auto& text : world_.event_texts()) count += text.find(part) != std::string::npos ? 1 : 0;
    return count;
  }
  World world_{12, example()};
};

TEST_F(HealthCheckTest, NodesAreOutOfUseMeanwhileAndComeBack) {
  const int scaled = events("Scaling");
  ASSERT_TRUE(check({}, {kStress, kConnectivity}));
  EXPECT_EQ(checking(), 6);
  world_.run(kMinute / 2);
  EXPECT_THAT(world_.slurm.run_job("gpu", 1), IsEmpty());
  EXPECT_EQ(world_.slurm.view("p5-1").reason, "espalier:health-check");
  ASSERT_TRUE(settles());
  EXPECT_EQ(events(" passed"), 6);
  EXPECT_EQ(events("Scaling"), scaled) << "nothing was scaled";
  EXPECT_THAT(world_.slurm.run_job("gpu", 6), SizeIs(6));
}

TEST_F(HealthCheckTest, OneAtATimeAndOnlyWhatIsThere) {
  ASSERT_TRUE(check({"p5-1"}));
  EXPECT_EQ(check({"p5-2"}).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(settles());
  world_.ask(reconcile::UserChecksHealth{{{{"ctl", {}, {kStress}}}}});
  world_.ask(reconcile::UserChecksHealth{{{{"p6", {}, {kStress}}}}});
  world_.ask(reconcile::UserChecksHealth{{{{"p5", {MachineId("i-x")}, {kStress}}}}});
  world_.run(Millis(0));
  EXPECT_EQ(world_.answers.end()[-3].error().code, ErrorCode::kInvalid);
  EXPECT_EQ(world_.answers.end()[-2].error().code, ErrorCode::kNotFound);
  EXPECT_EQ(world_.answers.end()[-1].error().code, ErrorCode::kNotFound);
  EXPECT_EQ(checking(), 0);
}

TEST_F(HealthCheckTest, ABusyNodeIsWaitedForThenLeftAlone) {
  const auto job = world_.slurm.run_job("gpu", 1);
  ASSERT_THAT(job, SizeIs(1));
  ASSERT_TRUE(check());
  world_.run(9 * kMinute);
  EXPECT_EQ(checking(), 1);
  ASSERT_TRUE(settles());
  EXPECT_EQ(events("could not be done"), 1);
  EXPECT_EQ(world_.checks.count(job[0]), 0U);
  EXPECT_EQ(world_.slurm.nodes().at(job[0]).jobs, 1) << "its job was killed";
  world_.slurm.end_job(job);
  EXPECT_THAT(world_.slurm.run_job("gpu", 6), SizeIs(6));
}

TEST_F(HealthCheckTest, WhatFailsIsReplacedAndItsSuccessorIsCheckedToo) {
  const MachineId before = machine("p5-3");
  world_.verdicts["p5-3"] = CheckVerdict::Replace;
  ASSERT_TRUE(check());
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return events("to be replaced") > 0; }));
  world_.verdicts.clear();
  ASSERT_TRUE(settles());
  EXPECT_NE(machine("p5-3"), before);
  EXPECT_EQ(world_.checks["p5-3"], 2);
  EXPECT_EQ(events(" passed"), 6);
  EXPECT_THAT(world_.slurm.run_job("gpu", 6), SizeIs(6));
}

TEST_F(HealthCheckTest, AMachineThatFailsAgainIsKeptOutInsteadOfReplacedForEver) {
  world_.verdicts["p5-3"] = CheckVerdict::Replace;
  ASSERT_TRUE(check({"p5-3"}));
  world_.run(20 * kMinute);
  EXPECT_EQ(world_.checks["p5-3"], 2);
  EXPECT_EQ(events("kept from jobs"), 1);
  EXPECT_THAT(world_.slurm.run_job("gpu", 6), IsEmpty());
  EXPECT_THAT(world_.slurm.run_job("gpu", 5), SizeIs(5));
}

TEST_F(HealthCheckTest, ManyFailuresAreReplacedWithinTheBudget) {
  for (int i = 1; i <= 3; ++i) world_.verdicts[fmt::format("p5-{}", i)] = CheckVerdict::Replace;
  ASSERT_TRUE(check());
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return events("to be replaced") >= 3; }));
  world_.verdicts.clear();
  for (int i = 0; i < 600; ++i) {
    int under_repair = 0;
    for (const auto& [id, slot] : world_.state().slots) under_repair += slot.repair && !slot.repair->done ? 1 : 0;
    ASSERT_LE(under_repair, 1);
    if (world_.all_ready()) break;
    world_.run(Millis(1000));
  }
  EXPECT_TRUE(settles(30 * kMinute));
}

TEST_F(HealthCheckTest, ADrainedNodeIsAnAdminsToResume) {
  world_.verdicts["p5-3"] = CheckVerdict::Drain;
  ASSERT_TRUE(check({"p5-3"}));
  ASSERT_TRUE(settles());
  EXPECT_EQ(world_.slurm.view("p5-3").reason, "health check: InstanceStress: it says so");
  world_.run(30 * kMinute);
  EXPECT_FALSE(world_.slurm.usable("p5-3"));
  world_.slurm.admin_lifts("p5-3");
  world_.slurm_tells();
  world_.run(10 * kMinute);
  EXPECT_TRUE(world_.slurm.usable("p5-3"));
}

TEST_F(HealthCheckTest, WithoutRecoveryNothingIsReplaced) {
  reconcile::ClusterChange change;
  change.node_recovery = "None";
  world_.change(change);
  const MachineId before = machine("p5-3");
  world_.verdicts["p5-3"] = CheckVerdict::Replace;
  ASSERT_TRUE(check());
  world_.run(20 * kMinute);
  EXPECT_EQ(machine("p5-3"), before);
  EXPECT_FALSE(world_.slurm.usable("p5-3"));
}

TEST_F(HealthCheckTest, ANodeThatNobodyReachesIsReplacedAndNoOther) {
  world_.unreachable = {"p5-4"};
  const MachineId before = machine("p5-4");
  ASSERT_TRUE(check({}, {kConnectivity}));
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return events("to be replaced") > 0; }));
  world_.unreachable.clear();
  ASSERT_TRUE(settles());
  EXPECT_NE(machine("p5-4"), before);
  EXPECT_EQ(events("failed: the instance is to be replaced"), 1);
}

TEST_F(HealthCheckTest, ACrashAtAnyEffectLosesNoCheck) {
  for (int nth = 1; nth <= 14; ++nth) {
    for (const bool after : {false, true}) {
      world_.crash_at(nth, after);
      ASSERT_TRUE(check({"p5-2"}));
      ASSERT_TRUE(settles(20 * kMinute)) << nth;
      world_.crash_at(0, false);
      world_.run(kMinute);
      ASSERT_TRUE(world_.slurm.usable("p5-2")) << nth;
    }
  }
  EXPECT_EQ(events(" passed"), 28);
}

TEST(HealthCheckOnStart, WhatIsKeptOutIsAnAdminsToResume) {
  World world(7, example({"InstanceStress"}));
  world.verdicts["p5-3"] = CheckVerdict::Drain;
  world.run(20 * kMinute);
  EXPECT_FALSE(world.slurm.usable("p5-3"));
  EXPECT_EQ(world.slurm.view("p5-3").reason, "health check: InstanceStress: it says so");
  EXPECT_EQ(world.checks["p5-3"], 1);
  world.slurm.admin_lifts("p5-3");
  world.slurm_tells();
  ASSERT_TRUE(world.run(10 * kMinute, [&] { return world.all_ready(); }));
  EXPECT_TRUE(world.slurm.usable("p5-3"));
  EXPECT_EQ(world.checks["p5-3"], 1);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(HealthCheckOnStart, NewMachinesAreCheckedWithEachOtherBeforeTheirFirstJob) {
  World world(7, example({"InstanceStress", "InstanceConnectivity"}));
  const auto all_checked = [&] { return world.checks.size() == 6; };
  ASSERT_TRUE(world.run(10 * kMinute, all_checked));
  for (int i = 1; i <= 6; ++i) EXPECT_FALSE(world.slurm.usable(fmt::format("p5-{}", i))) << i;
  ASSERT_TRUE(world.run(10 * kMinute, [&] { return world.all_ready(); }));
  int passed = 0;
  for (const auto& text : world.event_texts()) passed += text.find(" passed") != std::string::npos ? 1 : 0;
  EXPECT_EQ(passed, 6);
  EXPECT_THAT(world.slurm.run_job("gpu", 6), SizeIs(6));
  EXPECT_THAT(world.broken, IsEmpty());
}

}  // namespace
}  // namespace espalier::sim
