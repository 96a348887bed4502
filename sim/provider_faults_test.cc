// What a provider may do that looks like another fault: lists that lag, answers that come late or never, positions that
// become known after the launch. By hand, one at a time; the lives mix them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "simulation.h"

namespace espalier::sim {
namespace {

using testing::IsEmpty;

constexpr Millis kMinute{60'000};

Options launches_take(Millis length) {
  Options options;
  options.calls.launch_from = options.calls.launch_to = length;
  return options;
}

class ProviderFaultsTest : public testing::Test {
 protected:
  void begin(Options options = {}) {
    world_ = std::make_unique<Simulation>(7, std::move(options));
    world_->user().wish_for(
        "demo", {true, {{"ctl", {"Controller", "ml.m5.xlarge", 1}}, {"p5", {"Compute", "ml.p5.48xlarge", 6}}}});
    world_->start();
    world_->user().create("demo");
  }
  void TearDown() override { EXPECT_THAT(world_->broken(), IsEmpty()); }
  void strike(Fault fault, double rate) { world_->nature().faults.set(fault, rate); }
  bool grows() {
    return world_->run(10 * kMinute, [&] { return world_->complete("demo"); });
  }
  // Deletes the cluster while its first launch is not answered; true when nothing is left of both.
  bool goes_while_it_launches() {
    world_->run(Millis(5'000));
    EXPECT_TRUE(std::ranges::any_of(world_->cluster("demo")->slots,
                                    [](const auto& item) { return item.second.state == SlotState::Launching; }));
    world_->user().remove("demo");
    const bool made = world_->run(60 * kMinute, [&] { return world_->cloud().made_count() > 0; });
    return made && world_->run(10 * kMinute, [&] {
      return world_->cluster("demo") == nullptr && world_->cloud().all_alive().empty();
    });
  }
  std::unique_ptr<Simulation> world_;
};

TEST_F(ProviderFaultsTest, AMachineThatALateListLacksIsNotGone) {
  begin();
  strike(Fault::ListLags, 1);
  ASSERT_TRUE(grows());
  world_->run(60 * kMinute);
  EXPECT_EQ(world_->cloud().made_count(), 7) << "none is given up and launched anew";
}

TEST_F(ProviderFaultsTest, AMachineThatEndedUnseenIsGoneInTime) {
  begin();
  ASSERT_TRUE(grows());
  world_->crash();  // what ends now is told by lists only
  for (const auto& [id, slot] : world_->cluster("demo")->slots)
    if (slot.node_name == "p5-2") {
      ASSERT_TRUE(world_->cloud().terminate(slot.machine->id));
      break;
    }
  ASSERT_TRUE(world_->run(10 * kMinute, [&] { return !world_->complete("demo"); }));
  EXPECT_TRUE(grows());
  EXPECT_EQ(world_->cloud().made_count(), 8);
}

TEST_F(ProviderFaultsTest, ALaunchWithoutAnswerLeavesNoMachineToADeletedCluster) {
  begin(launches_take(Millis(30'000)));
  strike(Fault::LaunchSilent, 1);
  EXPECT_TRUE(goes_while_it_launches());
}

TEST_F(ProviderFaultsTest, ALaunchThatOutlivesItsClusterLeavesNoMachine) {
  begin(launches_take(20 * kMinute));  // longer than it is waited for
  EXPECT_TRUE(goes_while_it_launches());
}

TEST_F(ProviderFaultsTest, ALaunchWithoutAnswerIsNotForgottenWhileListsHang) {
  begin(launches_take(Millis(30'000)));
  strike(Fault::LaunchSilent, 1);
  world_->run(Millis(5'000));
  strike(Fault::CallHangs, 1);  // of the lists; the launch is under way
  world_->user().remove("demo");
  EXPECT_TRUE(world_->run(60 * kMinute, [&] { return world_->cluster("demo") == nullptr; }));
  EXPECT_EQ(world_->cloud().made_count(), 1);
  EXPECT_THAT(world_->cloud().all_alive(), IsEmpty());
}

TEST_F(ProviderFaultsTest, APositionThatBecomesKnownLaterIsTaken) {
  begin();
  strike(Fault::PositionLater, 0.9);
  ASSERT_TRUE(grows());
  strike(Fault::PositionLater, 0);
  world_->run(10 * kMinute);
  for (const auto& [node, place] : world_->slurm("demo").leaves()) EXPECT_FALSE(place.contains("unplaced")) << node;
}

TEST_F(ProviderFaultsTest, AFileThatSlurmRefusesIsTriedEverMoreSeldom) {
  begin();
  ASSERT_TRUE(grows());
  int tries = 0;
  world_->slurm("demo").refuses_now = [&](const agent::SlurmStep& step) {
    return step.kind == agent::SlurmStepKind::Reconfigure && ++tries > 0;
  };
  world_->user().wishes()["demo"].groups["p5"].count = 8;
  world_->user().update("demo");
  world_->run(10 * kMinute);
  EXPECT_GT(tries, 10);
  EXPECT_LT(tries, 40) << "20 are twice a minute";
  world_->slurm("demo").refuses_now = {};
  EXPECT_TRUE(grows());
}

}  // namespace
}  // namespace espalier::sim
