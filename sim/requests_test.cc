// What users ask of nodes and groups beside counts, in the simulated world: adding, deleting, replacing, minimum
// counts, flexible groups; and groups that are slowed down because their machines fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconcile/example_wish_test.h"
#include "world.h"

namespace espalier::sim {
namespace {

using reconcile::ActOnNodes;
using reconcile::ActOnNodesAnswer;
using reconcile::AddNodes;
using reconcile::AddNodesAnswer;
using reconcile::ClusterChange;
using reconcile::ClusterWish;
using reconcile::example_cluster;
using reconcile::example_group;
using reconcile::GroupWish;
using reconcile::NodeAction;
using reconcile::NodeRefusal;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Millis kMinute{60'000};
constexpr Millis kHour{60 * kMinute};
constexpr const char* kP5 = "ml.p5.48xlarge";
constexpr const char* kP5e = "ml.p5e.48xlarge";

ClusterWish example() {
  return example_cluster(
      {example_group("ctl", NodeType::Controller, "ml.m5.xlarge", 1), example_group("p5", NodeType::Compute, kP5, 4)});
}

ClusterChange counts(int count, int minimum) {
  ClusterChange change;
  change.groups = {example_group("p5", NodeType::Compute, kP5, count)};
  change.groups[0].min_count = minimum;
  return change;
}

class RequestsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(grows()); }
  void TearDown() override { EXPECT_THAT(world_.broken, IsEmpty()); }
  bool grows() {
    return world_.run(10 * kMinute, [&] { return world_.all_ready(); });
  }
  template <typename Answer>
  Answer answer(reconcile::Input request) {
    world_.ask(std::move(request));
    world_.run(Millis(0));
    return std::get<Answer>(world_.answers.back().value());
  }
  ActOnNodesAnswer act(NodeAction action, const std::string& node) {
    return answer<ActOnNodesAnswer>(reconcile::UserActsOnNodes{{action, {{MachineId(), world_.slot(node).id}}}});
  }
  const Group& p5() { return world_.state().groups.at("p5"); }
  World world_{11, example()};
};

TEST_F(RequestsTest, AddedNodesAreNamedAtOnceAndCome) {
  const auto added = answer<AddNodesAnswer>(reconcile::UserAddsNodes{{"", {{"p5", 2, {}, {}}}}});
  ASSERT_EQ(added.added.size(), 2U);
  EXPECT_EQ(added.added[0].status, InstanceStatus::Pending);
  EXPECT_EQ(p5().target_count, 6);
  ASSERT_TRUE(grows());
  EXPECT_EQ(world_.slot("p5-5").id, added.added[0].slot);
}

TEST_F(RequestsTest, TheSameTokenAddsOnce) {
  const reconcile::UserAddsNodes request{{"token-1", {{"p5", 2, {}, {}}}}};
  const auto first = answer<AddNodesAnswer>(request);
  const auto second = answer<AddNodesAnswer>(request);
  ASSERT_EQ(second.added.size(), 2U);
  EXPECT_EQ(second.added[1].slot, first.added[1].slot);
  EXPECT_EQ(p5().target_count, 6);
  world_.ask(reconcile::UserAddsNodes{{"token-1", {{"p5", 3, {}, {}}}}});
  world_.run(Millis(0));
  EXPECT_EQ(world_.answers.back().error().code, ErrorCode::kInvalid);
  world_.run(9 * kHour);
  EXPECT_EQ(answer<AddNodesAnswer>(request).added.size(), 2U);
  EXPECT_EQ(p5().target_count, 8);
}

TEST_F(RequestsTest, AdditionsThatCannotBeAreRefusedOneByOne) {
  const auto added = answer<AddNodesAnswer>(reconcile::UserAddsNodes{
      {"", {{"p5", 1, {}, {}}, {"none", 1, {}, {}}, {"ctl", 1, {}, {}}, {"p5", 1, {kP5e}, {}}}}});
  EXPECT_EQ(added.added.size(), 1U);
  std::vector<std::string> codes;
  for (const auto& failure : added.failed) codes.push_back(failure.code);
  EXPECT_THAT(codes,
              testing::ElementsAre("InstanceGroupNotFound", "InvalidInstanceGroupStatus", "IncompatibleInstanceTypes"));
}

TEST_F(RequestsTest, TheNodeThatIsNamedGoesAndTheTargetFalls) {
  EXPECT_EQ(act(NodeAction::Delete, "p5-2").done.size(), 1U);
  EXPECT_EQ(p5().target_count, 3);
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.live_machines() == 4 && world_.all_ready(); }));
  EXPECT_THROW((void)world_.slot("p5-2"), std::out_of_range);
  EXPECT_EQ(world_.slot("p5-4").state, SlotState::Ready);
}

TEST_F(RequestsTest, TheControllerAndStrangersAreRefused) {
  EXPECT_EQ(act(NodeAction::Delete, "ctl-1").failed.at(0).why, NodeRefusal::InvalidStatus);
  const auto answered =
      answer<ActOnNodesAnswer>(reconcile::UserActsOnNodes{{NodeAction::Delete, {{MachineId("i-0"), SlotId()}}}});
  EXPECT_EQ(answered.failed.at(0).why, NodeRefusal::NotFound);
  EXPECT_EQ(p5().target_count, 4);
}

TEST_F(RequestsTest, AReplacedNodeKeepsItsSlotAndItsJobEndsFirst) {
  const auto job = world_.slurm.run_job("gpu", 4);
  const Slot before = world_.slot("p5-2");
  EXPECT_EQ(act(NodeAction::Replace, "p5-2").done.size(), 1U);
  EXPECT_EQ(act(NodeAction::Replace, "p5-2").failed.at(0).why, NodeRefusal::InUse);
  EXPECT_FALSE(world_.run(10 * kMinute, [&] { return world_.slot("p5-2").machine->id != before.machine->id; }));
  world_.slurm.end_job(job);
  world_.slurm_tells();
  ASSERT_TRUE(
      world_.run(kMinute, [&] { return world_.all_ready() && world_.slot("p5-2").machine->id != before.machine->id; }));
  EXPECT_EQ(world_.slot("p5-2").id, before.id);
  EXPECT_EQ(world_.slurm.run_job("gpu", 4).size(), 4U);
}

TEST_F(RequestsTest, AMinimumThatIsReachedEndsTheWait) {
  world_.change(counts(8, 6));
  world_.run(Millis(0));
  EXPECT_EQ(p5().status, GroupStatus::Updating);
  EXPECT_EQ(act(NodeAction::Delete, "p5-1").failed.size(), 1U);
  ASSERT_TRUE(world_.run(kMinute, [&] { return p5().status == GroupStatus::InService; }));
  EXPECT_THAT(world_.event_texts(), Contains(HasSubstr("Minimum capacity reached")));
}

TEST_F(RequestsTest, AMinimumThatIsNotReachedInThreeHoursGoesBack) {
  world_.set_capacity(kP5, 5);
  world_.change(counts(8, 6));
  world_.run(Millis(0));
  EXPECT_FALSE(world_.run(3 * kHour - Millis(1), [&] { return p5().status == GroupStatus::InService; }));
  ASSERT_TRUE(world_.run(kMinute, [&] { return p5().status == GroupStatus::InService; }));
  EXPECT_EQ(p5().target_count, 4);
  EXPECT_EQ(p5().min_count, 0);
  EXPECT_THAT(world_.event_texts(), Contains(HasSubstr("Rollback initiated")));
  EXPECT_TRUE(world_.run(kMinute, [&] { return world_.all_ready() && world_.live_machines() == 5; }));
}

TEST_F(RequestsTest, AFlexibleGroupTakesWhatThereIsByPriority) {
  world_.set_capacity(kP5, 6);
  GroupWish flexible = example_group("flex", NodeType::Compute, "", 5);
  flexible.instance_types = {kP5, kP5e};
  ClusterChange change;
  change.groups = {flexible};
  world_.change(change);
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.ready("flex") == 5; }));
  std::map<std::string, int> types;
  for (const auto& [id, slot] : world_.state().slots)
    if (slot.group == "flex") ++types[slot.instance_type];
  EXPECT_EQ(types[kP5], 2);
  EXPECT_EQ(types[kP5e], 3);
  change.groups[0].count = 2;
  world_.change(change);
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.all_ready() && world_.ready("flex") == 2; }));
  for (const auto& [id, slot] : world_.state().slots)
    if (slot.group == "flex") {
      EXPECT_EQ(slot.instance_type, kP5);
    }
}

// Else another pool grants it what it must give back, again and again at one moment.
TEST_F(RequestsTest, ASlotWhoseLaunchIsInDoubtAsksItsPoolAlone) {
  world_.set_capacity(kP5, 4);
  bool silent = true;
  world_.launch_fault = [&](const LaunchRequest& request) -> std::optional<LaunchFailure> {
    if (!silent || request.instance_type != kP5e) return std::nullopt;
    return LaunchFailure{FailureClass::Unknown, "no answer"};
  };
  ClusterChange change;
  change.groups = {example_group("flex", NodeType::Compute, "", 2)};
  change.groups[0].instance_types = {kP5, kP5e};
  world_.change(change);
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.launch_calls[kP5e] >= 2; }));
  world_.set_capacity(kP5, 14);
  silent = false;
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.ready("flex") == 2; }));
  EXPECT_EQ(world_.slot("flex-1").instance_type, kP5e);
  EXPECT_EQ(world_.slot("flex-2").instance_type, kP5e);
}

TEST_F(RequestsTest, AWrongConfigurationTriesOneAtATimeUntilItIsMended) {
  bool wrong = true;
  world_.launch_fault = [&](const LaunchRequest&) -> std::optional<LaunchFailure> {
    if (!wrong) return std::nullopt;
    return LaunchFailure{FailureClass::WrongConfiguration, "no such role"};
  };
  world_.change(counts(40, 0));
  ASSERT_TRUE(world_.run(kMinute, [&] { return p5().status == GroupStatus::Degraded; }));
  world_.run(Millis(10'000));
  const int before = world_.launch_calls[kP5];
  world_.run(2 * kHour);
  EXPECT_LE(world_.launch_calls[kP5] - before, 12);
  EXPECT_GE(world_.launch_calls[kP5] - before, 5);
  wrong = false;
  EXPECT_TRUE(world_.run(40 * kMinute, [&] { return world_.all_ready() && world_.ready("p5") == 40; }));
  EXPECT_EQ(p5().status, GroupStatus::InService);
}

TEST_F(RequestsTest, AGroupThatNeverBootsBurnsFewMachines) {
  world_.never_boot = {kP5};
  world_.change(counts(20, 0));
  ASSERT_TRUE(world_.run(kHour, [&] { return p5().status == GroupStatus::Degraded; }));
  world_.run(kHour);
  const int before = world_.launch_calls[kP5];
  world_.run(4 * kHour);
  EXPECT_LE(world_.launch_calls[kP5] - before, 12);
  world_.never_boot = {};
  EXPECT_TRUE(world_.run(kHour, [&] { return world_.all_ready() && world_.ready("p5") == 20; }));
}

// ---- software

class SoftwareTest : public RequestsTest {
 protected:
  void update(reconcile::UpdateSoftware request) {
    request.image = kNew;
    world_.ask(reconcile::UserUpdatesSoftware{std::move(request)});
    world_.run(Millis(0));
  }
  int with_image(const std::string& image) {
    int count = 0;
    for (const auto& [id, slot] : world_.state().slots)
      count += slot.group == "p5" && slot.machine && slot.machine->image == image ? 1 : 0;
    return count;
  }
  SoftwareUpdateStatus status() { return p5().update->status; }
  static constexpr const char* kNew = "ami-22222222";
};

TEST_F(SoftwareTest, BatchByBatchAndNeverMoreThanOneIsAway) {
  const auto job = world_.slurm.run_job("gpu", 1);
  world_.slurm_tells();
  world_.run(Millis(1000));
  update({{"p5"}, "", reconcile::BatchSize{25, true}, {}, Millis(10'000)});
  EXPECT_EQ(p5().status, GroupStatus::SystemUpdating);
  EXPECT_FALSE(world_.run(kHour, [&] { return world_.ready("p5") < 3 || with_image(kNew) == 4; }));
  EXPECT_EQ(with_image(kNew), 3) << "the busy one waits for its job";
  EXPECT_EQ(world_.state().cluster.status, ClusterStatus::SystemUpdating);
  world_.slurm.end_job(job);
  world_.slurm_tells();
  ASSERT_TRUE(world_.run(kMinute, [&] { return status() == SoftwareUpdateStatus::Succeeded; }));
  EXPECT_EQ(with_image(kNew), 4);
  EXPECT_EQ(p5().status, GroupStatus::InService);
  EXPECT_EQ(world_.state().cluster.status, ClusterStatus::InService);
}

TEST_F(SoftwareTest, TheControllersOwnUpdateEnds) {
  const auto controller = [&] { return world_.state().groups.at("ctl"); };
  update({{"ctl"}, "", reconcile::BatchSize{1, false}, {}, {}});
  ASSERT_TRUE(world_.run(kMinute, [&] { return controller().update->status == SoftwareUpdateStatus::Succeeded; }));
  EXPECT_EQ(world_.slot("ctl-1").machine->image, kNew);
  EXPECT_EQ(world_.state().cluster.status, ClusterStatus::InService);
}

TEST_F(SoftwareTest, TheWaitBetweenBatchesIsKept) {
  const Time begin = world_.now();
  update({{"p5"}, "", reconcile::BatchSize{2, false}, {}, Millis(60'000)});
  ASSERT_TRUE(world_.run(kHour, [&] { return status() == SoftwareUpdateStatus::Succeeded; }));
  EXPECT_GE(world_.now() - begin, kMinute);
}

TEST_F(SoftwareTest, AReleaseThatDoesNotBootIsRolledBack) {
  world_.never_boot = {kNew};
  update({{"p5"}, "", reconcile::BatchSize{1, false}, {}, {}});
  world_.ask(reconcile::UserUpdatesSoftware{{{"p5"}, kNew, {}, {}, {}}});
  world_.run(Millis(0));
  EXPECT_EQ(world_.answers.back().error().code, ErrorCode::kConflict);
  ASSERT_TRUE(world_.run(2 * kHour, [&] { return status() == SoftwareUpdateStatus::RollbackComplete; }));
  EXPECT_TRUE(grows());
  EXPECT_EQ(with_image(kNew), 0);
  EXPECT_EQ(world_.ready("p5"), 4);
}

TEST_F(SoftwareTest, WhatHasItAlreadyIsLeftAlone) {
  const int calls = world_.launch_calls[kP5];
  world_.ask(reconcile::UserUpdatesSoftware{{{}, "ami-11111111", {}, {}, {}}});
  ASSERT_TRUE(world_.run(kMinute, [&] { return p5().update && status() == SoftwareUpdateStatus::Succeeded; }));
  EXPECT_EQ(world_.launch_calls[kP5], calls);
}

// ---- all or nothing

class AllOrNothingTest : public testing::Test {
 protected:
  static ClusterWish whole() {
    ClusterWish wish = example();
    wish.continuous = false;
    return wish;
  }
  bool becomes(ClusterStatus status, Millis within = kHour) {
    return world_.run(within, [&] { return world_.state().cluster.status == status; });
  }
  void TearDown() override { EXPECT_THAT(world_.broken, IsEmpty()); }
  World world_{5, whole()};
};

TEST_F(AllOrNothingTest, IsInServiceOnlyWhenAllIsThere) {
  world_.set_capacity(kP5, 3);
  EXPECT_FALSE(becomes(ClusterStatus::InService, 10 * kMinute));
  world_.set_capacity(kP5, 4);
  ASSERT_TRUE(becomes(ClusterStatus::InService));
  EXPECT_TRUE(world_.all_ready());
}

TEST_F(AllOrNothingTest, ItIsMadeContinuousWhenNoChangeIsUnderWay) {
  world_.set_capacity(kP5, 4);
  ClusterChange change;
  change.continuous = true;
  world_.change(change);
  world_.run(Millis(0));
  EXPECT_EQ(world_.answers.back().error().code, ErrorCode::kConflict);
  ASSERT_TRUE(becomes(ClusterStatus::InService));
  world_.change(change);
  world_.change(counts(6, 0));
  world_.run(kMinute);
  EXPECT_TRUE(world_.answers.back());
  EXPECT_EQ(world_.state().cluster.status, ClusterStatus::InService) << "what is there is used";
  EXPECT_EQ(world_.ready("p5"), 4);
}

TEST_F(AllOrNothingTest, ACreationThatLacksOneGoesBackWholeAndFails) {
  world_.set_capacity(kP5, 3);
  ASSERT_TRUE(becomes(ClusterStatus::RollingBack));
  ASSERT_TRUE(becomes(ClusterStatus::Failed));
  EXPECT_EQ(world_.live_machines(), 0);
  EXPECT_THAT(world_.state().cluster.failure_message, HasSubstr("no capacity"));
  world_.change(counts(2, 0));
  world_.run(Millis(0));
  EXPECT_EQ(world_.answers.back().error().code, ErrorCode::kConflict);
  world_.remove();
  EXPECT_TRUE(world_.run(kMinute, [&] { return world_.gone(); }));
}

TEST_F(AllOrNothingTest, AnUpdateThatFailsGoesBackToWhatWas) {
  world_.set_capacity(kP5, 6);
  ASSERT_TRUE(becomes(ClusterStatus::InService));
  world_.change(counts(8, 0));
  world_.run(Millis(0));
  EXPECT_EQ(world_.state().cluster.status, ClusterStatus::Updating);
  world_.change(counts(5, 0));
  world_.run(Millis(0));
  EXPECT_EQ(world_.answers.back().error().code, ErrorCode::kConflict);
  ASSERT_TRUE(becomes(ClusterStatus::RollingBack));
  ASSERT_TRUE(becomes(ClusterStatus::InService));
  EXPECT_EQ(world_.ready("p5"), 4);
  EXPECT_EQ(world_.live_machines(), 5);
}

}  // namespace
}  // namespace espalier::sim
