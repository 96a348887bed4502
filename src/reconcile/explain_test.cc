// One explanation for every state, and for each thing that can hold up a launch.
#include "reconcile/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::reconcile {
namespace {

using testing::HasSubstr;

class ExplainTest : public testing::Test {
 protected:
  void SetUp() override {
    add_group("ctl", NodeType::Controller);
    add_group("p5", NodeType::Compute);
    add_slot("ctl", SlotState::Ready);
    observed_.controller = SlotId("ctl-1");
    slot_ = &add_slot("p5", SlotState::Wanted);
  }
  void add_group(const std::string& name, NodeType type) {
    Group group;
    group.name = name;
    group.type = type;
    group.instance_type = "ml.p5.48xlarge";
    state_.groups[name] = group;
  }
  Slot& add_slot(const std::string& group, SlotState state) {
    Slot slot;
    slot.id = SlotId(group + "-1");
    slot.node_name = group + "-1";
    slot.group = group;
    slot.number = 1;
    slot.state = state;
    slot.instance_type = "ml.p5.48xlarge";
    slot.since = Time(Millis(1000));
    slot.machine = Machine{MachineId("i-1"), "10.0.0.1", {}, "", {}, ""};
    return state_.slots[slot.id] = slot;
  }
  Explanation why() { return explain(state_, observed_, settings_, *slot_); }
  Explanation why(SlotState state) {
    slot_->state = state;
    return why();
  }

  ClusterState state_;
  Observed observed_;
  Settings settings_;
  Slot* slot_ = nullptr;
};

TEST_F(ExplainTest, EveryStateHasAReasonAndANextStep) {
  for (const SlotState state : {SlotState::Wanted, SlotState::Launching, SlotState::Booting, SlotState::Configuring,
                                SlotState::Joining, SlotState::Ready, SlotState::Checking, SlotState::Draining,
                                SlotState::Terminating, SlotState::Backoff, SlotState::Gone}) {
    EXPECT_NE(why(state).because, "") << enum_name(state);
    EXPECT_NE(why(state).next, "") << enum_name(state);
  }
}

TEST_F(ExplainTest, ADeadlineIsNamedWithItsTime) {
  EXPECT_EQ(why(SlotState::Booting).next_at, slot_->since + settings_.deadlines.booting);
  EXPECT_THAT(why(SlotState::Booting).next, HasSubstr("or its machine is replaced"));
}

TEST_F(ExplainTest, AScriptHasItsOwnTime) {
  settings_.scripts = true;
  state_.groups.at("p5").spec["LifeCycleConfig"] = json::object{{"SourceS3Uri", "s3://b/p"}, {"OnCreate", "a.sh"}};
  EXPECT_GE(*why(SlotState::Configuring).next_at - slot_->since,
            settings_.deadlines.configuring + settings_.script_tries * settings_.script_time_limit);
}

TEST_F(ExplainTest, ARebootIsNamedUntilItIsDone) {
  slot_->repair = Repair{RepairKind::Reboot, false, false, false, "asked for by a user", slot_->since};
  observed_.slurm_nodes["p5-1"] = {"p5-1", "draining", "10.0.0.1", "espalier:replace"};
  EXPECT_THAT(why(SlotState::Draining).next, HasSubstr("rebooted when no job is left"));
  EXPECT_THAT(why(SlotState::Booting).because, HasSubstr("to be rebooted: asked for by a user"));
  EXPECT_EQ(why(SlotState::Booting).next_at, std::nullopt) << "it may wait for slurmctld as long as it takes";
  slot_->repair->begun = true;
  EXPECT_THAT(why(SlotState::Booting).because, HasSubstr("was rebooted"));
  EXPECT_EQ(why(SlotState::Booting).next_at, slot_->since + settings_.deadlines.booting);
}

TEST_F(ExplainTest, AFaultIsNamedAndWhatIsDoneAboutIt) {
  observed_.sick[slot_->id] = {MachineId("i-1"), {FaultKind::DevicesMissing, "it has 7 of 8 GPUs", Time(Millis(2000))}};
  state_.cluster.node_recovery = "Automatic";
  EXPECT_EQ(why(SlotState::Ready).because, "it has 7 of 8 GPUs");
  EXPECT_EQ(why(SlotState::Ready).next_at, Time(Millis(2000)) + settings_.repair.grace);
  state_.cluster.node_recovery = "None";
  EXPECT_THAT(why(SlotState::Ready).next, HasSubstr("NodeRecovery=None"));
}

TEST_F(ExplainTest, TheControllerComesFirst) {
  state_.slots.at(SlotId("ctl-1")).state = SlotState::Booting;
  EXPECT_THAT(why().because, HasSubstr("controller comes first"));
}

TEST_F(ExplainTest, AClosedPoolSaysWhyAndWhenItIsAsked) {
  observed_.closed_pools["ml.p5.48xlarge"] = {Time(Millis(5000)), FailureClass::Shortage, "none left", 3};
  EXPECT_THAT(why().because, HasSubstr("3 tries): none left"));
  EXPECT_EQ(why().next_at, Time(Millis(5000)));
  EXPECT_EQ(next_launch(state_, observed_, *slot_), Time(Millis(5000)));
}

TEST_F(ExplainTest, AFlexibleGroupWaitsOnlyWhenAllItsPoolsAreClosed) {
  state_.groups.at("p5").instance_types = {"ml.p5.48xlarge", "ml.p5e.48xlarge"};
  observed_.closed_pools["ml.p5.48xlarge"] = {Time(Millis(5000)), FailureClass::Shortage, "none left", 3};
  EXPECT_THAT(why().because, HasSubstr("turn to grant"));
}

TEST_F(ExplainTest, ADegradedGroupTriesOne) {
  state_.groups.at("p5").canary_at = Time(Millis(9000));
  state_.groups.at("p5").failure_message = "no such role";
  EXPECT_THAT(why().because, HasSubstr("one instance at a time until one succeeds: no such role"));
  EXPECT_EQ(why().next_at, Time(Millis(9000)));
}

TEST_F(ExplainTest, AClockThatKeepsItFromJoiningIsNamed) {
  observed_.slurm_read = true;
  observed_.slurm_nodes["p5-1"] = {"p5-1", "down~", "0.0.0.0", "espalier:waiting"};
  observed_.sick[slot_->id] = {MachineId("i-1"), {FaultKind::ClockOff, "its clock is 301 s behind", Time()}};
  EXPECT_THAT(why(SlotState::Joining).because,
              HasSubstr("not registered: slurmctld shows it down~ at 0.0.0.0; its clock"));
}

TEST_F(ExplainTest, AnAdminsReasonIsNamed) {
  observed_.slurm_read = true;
  observed_.slurm_nodes["p5-1"] = {"p5-1", "drained", "10.0.0.1", "bad cable"};
  EXPECT_THAT(why(SlotState::Joining).because, HasSubstr("a reason that is not ours: bad cable"));
}

TEST_F(ExplainTest, ANodeThatIsReadyAndDrainedIsNotAsItShouldBe) {
  observed_.slurm_nodes["p5-1"] = {"p5-1", "drained", "10.0.0.1", "mine"};
  EXPECT_THAT(why(SlotState::Ready).because, HasSubstr("drained, with a reason that is not ours: mine"));
  EXPECT_THAT(why(SlotState::Ready).next, HasSubstr("state=resume"));
  observed_.slurm_nodes["p5-1"].state = "allocated";
  EXPECT_EQ(why(SlotState::Ready).because, "all is as it should be");
}

TEST_F(ExplainTest, AScriptThatFailsIsNamedWithItsNextTry) {
  observed_.script_tries[MachineId("i-1")] = {2, Time(Millis(7000))};
  slot_->failure_message = "lifecycle script on_create.sh: exit 3";
  EXPECT_EQ(why(SlotState::Configuring).because,
            "its lifecycle script has failed (2 tries): lifecycle script on_create.sh: exit 3");
  EXPECT_EQ(why(SlotState::Configuring).next_at, Time(Millis(7000)));
}

TEST_F(ExplainTest, ABusyNodeThatHasToGoIsWaitedFor) {
  slot_->wanted = false;
  observed_.slurm_nodes["p5-1"] = {"p5-1", "draining", "10.0.0.1", "espalier:scale-down"};
  EXPECT_THAT(why(SlotState::Draining).next, HasSubstr("when no job is left"));
}

}  // namespace
}  // namespace espalier::reconcile
