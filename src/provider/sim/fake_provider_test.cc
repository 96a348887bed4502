#include "provider/sim/fake_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace espalier::sim {
namespace {

using Call = FakeProvider::Call;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

LaunchRequest request(const std::string& key, const std::string& slot, const std::string& cluster = "c1") {
  LaunchRequest out;
  out.key = key;
  out.instance_type = "ml.p5.48xlarge";
  out.cluster = ClusterId(cluster);
  out.group = "workers";
  out.slot = SlotId(slot);
  return out;
}

const LaunchFailure kBroken{FailureClass::BadMachine, "it does not start"};

class FakeProviderTest : public testing::Test {
 protected:
  std::size_t machines() { return provider_.list(ClusterId()).value().size(); }

  ManualClock clock_{Time(Millis(1000))};
  FakeProvider provider_{clock_};
};

TEST_F(FakeProviderTest, LaunchesAtOnceAndTagsTheMachine) {
  clock_.advance(Millis(5));
  const auto made = provider_.launch(request("k1", "s1")).value();
  EXPECT_THAT(made.machine.id.value, testing::MatchesRegex("i-[0-9a-f]{17}"));
  EXPECT_EQ(made.machine.launched_at, Time(Millis(1005)));
  EXPECT_TRUE(made.running);
  EXPECT_EQ(made.key, "k1");
  EXPECT_EQ(made.slot, SlotId("s1"));
  EXPECT_EQ(made.group, "workers");
  EXPECT_NE(provider_.launch(request("k2", "s2")).value().machine.address, made.machine.address);
}

TEST_F(FakeProviderTest, TheSameKeyGivesTheSameMachineAlsoWhenThatIsGone) {
  const auto first = provider_.launch(request("k1", "s1")).value();
  EXPECT_EQ(provider_.launch(request("k1", "s1"))->machine.id, first.machine.id);
  EXPECT_EQ(machines(), 1u);
  ASSERT_TRUE(provider_.terminate(first.machine.id));
  const auto again = provider_.launch(request("k1", "s1")).value();
  EXPECT_EQ(again.machine.id, first.machine.id);
  EXPECT_FALSE(again.running);
  EXPECT_EQ(machines(), 0u);
  EXPECT_THAT(provider_.violations(), IsEmpty());
}

TEST_F(FakeProviderTest, GivesTheAddressAskedForAndThePositionOfThePlacement) {
  FakeProvider placed(clock_, [](const LaunchRequest&, std::size_t number) {
    return Position{{"root", "leaf-" + std::to_string(number / 2)}, ""};
  });
  LaunchRequest controller = request("k1", "s1");
  controller.address = "10.77.9.9";
  EXPECT_EQ(placed.launch(controller)->machine.address, "10.77.9.9");
  placed.launch(request("k2", "s2")).value();
  EXPECT_THAT(placed.launch(request("k3", "s3"))->machine.position.network_nodes, ElementsAre("root", "leaf-1"));
}

TEST_F(FakeProviderTest, CapacityIsAShortageUntilAMachineEndsOrMoreIsGiven) {
  provider_.set_capacity("ml.p5.48xlarge", 1);
  const auto first = provider_.launch(request("k1", "s1")).value();
  const auto none = provider_.launch(request("k2", "s2"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, FailureClass::Shortage);
  ASSERT_TRUE(provider_.terminate(first.machine.id));
  EXPECT_TRUE(provider_.launch(request("k2", "s2")));  // the key was still good
  EXPECT_FALSE(provider_.launch(request("k3", "s3")));
  provider_.set_capacity("ml.p5.48xlarge", std::nullopt);
  EXPECT_TRUE(provider_.launch(request("k3", "s3")));
}

TEST_F(FakeProviderTest, CapacityOfOneTypeDoesNotBoundAnother) {
  provider_.set_capacity("ml.p5.48xlarge", 0);
  LaunchRequest other = request("k1", "s1");
  other.instance_type = "ml.c5.4xlarge";
  EXPECT_TRUE(provider_.launch(other));
}

TEST_F(FakeProviderTest, ScriptsFollowOneAnotherForTheirKey) {
  provider_.script("k1", {.failure = kBroken});
  provider_.script("k1", {.failure = LaunchFailure{FailureClass::Throttling, "slowly"}});
  EXPECT_TRUE(provider_.launch(request("k2", "s2")));
  EXPECT_EQ(provider_.launch(request("k1", "s1")).error().kind, FailureClass::BadMachine);
  EXPECT_EQ(provider_.launch(request("k1", "s1")).error().kind, FailureClass::Throttling);
  EXPECT_TRUE(provider_.launch(request("k1", "s1")));
}

TEST_F(FakeProviderTest, AScriptWithoutKeyIsForTheNextLaunchThatHasNone) {
  provider_.script("", {.failure = kBroken});
  provider_.script("k1", {});
  EXPECT_TRUE(provider_.launch(request("k1", "s1")));
  EXPECT_FALSE(provider_.launch(request("k2", "s2")));
  EXPECT_TRUE(provider_.launch(request("k2", "s2")));
}

TEST_F(FakeProviderTest, AnErrorAfterSuccessLeavesTheMachineForTheNextTry) {
  provider_.script("k1", {.failure = kBroken, .machine_comes = true});
  EXPECT_FALSE(provider_.launch(request("k1", "s1")));
  const auto listed = provider_.list(ClusterId("c1")).value();
  ASSERT_THAT(listed, SizeIs(1));
  EXPECT_EQ(provider_.launch(request("k1", "s1"))->machine.id, listed[0].machine.id);
}

TEST_F(FakeProviderTest, AHangingLaunchWaitsForReleaseAndHoldsUpNobody) {
  provider_.script("k1", {.hangs = true});
  provider_.script("k2", {.failure = kBroken, .hangs = true});
  bool first = false, second = true;
  std::thread one([&] { first = provider_.launch(request("k1", "s1")).has_value(); });
  std::thread two([&] { second = provider_.launch(request("k2", "s2")).has_value(); });
  provider_.await_hanging(2);
  EXPECT_TRUE(provider_.launch(request("k3", "s3")));
  EXPECT_EQ(machines(), 1u);
  provider_.release();
  one.join();
  two.join();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  EXPECT_EQ(machines(), 2u);
}

TEST_F(FakeProviderTest, TwoLaunchesOfOneKeyAtATimeMakeOneMachine) {
  provider_.script("k1", {.hangs = true});
  provider_.script("k1", {.hangs = true});
  std::thread one([&] { EXPECT_TRUE(provider_.launch(request("k1", "s1"))); });
  std::thread two([&] { EXPECT_TRUE(provider_.launch(request("k1", "s1"))); });
  provider_.await_hanging(2);
  provider_.release();
  one.join();
  two.join();
  EXPECT_EQ(machines(), 1u);
  EXPECT_THAT(provider_.violations(), IsEmpty());
}

TEST_F(FakeProviderTest, ListsByCluster) {
  provider_.launch(request("k1", "s1", "c1")).value();
  provider_.launch(request("k2", "s2", "c2")).value();
  EXPECT_THAT(provider_.list(ClusterId("c1")).value(), SizeIs(1));
  EXPECT_THAT(provider_.list(ClusterId()).value(), SizeIs(2));
}

TEST_F(FakeProviderTest, TerminatingWhatIsGoneSucceeds) {
  EXPECT_TRUE(provider_.terminate(MachineId("i-never")));
  EXPECT_THAT(provider_.terminated(), ElementsAre(MachineId("i-never")));
}

TEST_F(FakeProviderTest, AMachineThatEndsByItselfIsToldOnceAndStaysListed) {
  std::vector<ProvidedMachine> told;
  provider_.on_exit([&](const ProvidedMachine& machine) { told.push_back(machine); });
  const auto made = provider_.launch(request("k1", "s1")).value();
  provider_.end(made.machine.id);
  provider_.end(made.machine.id);
  provider_.end(MachineId("i-never"));
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].machine.id, made.machine.id);
  EXPECT_FALSE(told[0].running);
  EXPECT_FALSE(provider_.list(ClusterId()).value().at(0).running);
  const auto other = provider_.launch(request("k2", "s2")).value();
  ASSERT_TRUE(provider_.terminate(other.machine.id));
  EXPECT_THAT(told, SizeIs(1));  // that was asked for
}

TEST_F(FakeProviderTest, RefusedTypesAreNeitherOfferedNorLaunched) {
  provider_.refuse("ml.p5.48xlarge", "its size is not known");
  EXPECT_THAT(provider_.offers("ml.p5.48xlarge").error().message, HasSubstr("its size is not known"));
  EXPECT_TRUE(provider_.offers("ml.c5.4xlarge"));
  EXPECT_EQ(provider_.launch(request("k1", "s1")).error().kind, FailureClass::WrongConfiguration);
}

TEST_F(FakeProviderTest, OtherCallsFailAsScriptedAndAreCounted) {
  const auto made = provider_.launch(request("k1", "s1")).value();
  for (const Call call : {Call::kTerminate, Call::kList, Call::kRemoveVolumes})
    provider_.fail_next(call, {ErrorCode::kUnavailable, "not now"});
  EXPECT_FALSE(provider_.terminate(made.machine.id));
  EXPECT_FALSE(provider_.list(ClusterId()));
  EXPECT_FALSE(provider_.remove_volumes(ClusterId("c1")));
  EXPECT_EQ(machines(), 1u);
  EXPECT_TRUE(provider_.terminate(made.machine.id));
  EXPECT_TRUE(provider_.remove_volumes(ClusterId("c1")));
  EXPECT_EQ(provider_.calls(Call::kLaunch), 1);
  EXPECT_EQ(provider_.calls(Call::kTerminate), 2);
  EXPECT_EQ(provider_.calls(Call::kList), 2);
  EXPECT_EQ(provider_.calls(Call::kRemoveVolumes), 2);
  EXPECT_THAT(provider_.removed_volumes(), ElementsAre(ClusterId("c1")));
  EXPECT_THAT(provider_.launches(), SizeIs(1));
}

TEST_F(FakeProviderTest, NoticesASecondMachineForASlot) {
  const auto first = provider_.launch(request("k1", "s1")).value();
  provider_.launch(request("k2", "s1", "c2")).value();  // another cluster's
  EXPECT_THAT(provider_.violations(), IsEmpty());
  provider_.launch(request("k3", "s1")).value();
  EXPECT_THAT(provider_.violations(), ElementsAre(HasSubstr("slot s1 has machine " + first.machine.id.value)));
}

TEST_F(FakeProviderTest, AReplacementAfterTheEndIsNoViolation) {
  const auto first = provider_.launch(request("k1", "s1")).value();
  provider_.end(first.machine.id);
  provider_.launch(request("k2", "s1")).value();
  EXPECT_THAT(provider_.violations(), IsEmpty());
}

TEST_F(FakeProviderTest, NoticesAKeyThatChangesItsMeaning) {
  provider_.launch(request("k1", "s1")).value();
  provider_.launch(request("k1", "s2")).value();
  EXPECT_THAT(provider_.violations(), ElementsAre(HasSubstr("key k1")));
}

TEST_F(FakeProviderTest, NoticesVolumesThatGoUnderAMachine) {
  provider_.launch(request("k1", "s1")).value();
  ASSERT_TRUE(provider_.remove_volumes(ClusterId("c1")));
  EXPECT_THAT(provider_.violations(), ElementsAre(HasSubstr("volumes of c1")));
}

}  // namespace
}  // namespace espalier::sim
