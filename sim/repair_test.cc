// Machines that are rebooted and replaced in the simulated world: by users, by admins in Slurm, and because they are
// not well; and lifecycle scripts that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconcile/example_wish_test.h"
#include "world.h"

namespace espalier::sim {
namespace {

using reconcile::NodeAction;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr Millis kMinute{60'000};
constexpr const char* kP5 = "ml.p5.48xlarge";

reconcile::GroupWish group(const std::string& name, NodeType type, const std::string& instance_type, int count) {
  auto wish = reconcile::example_group(name, type, instance_type, count);
  wish.spec["LifeCycleConfig"] = json::object{{"SourceS3Uri", "s3://bucket/life"}, {"OnCreate", "on_create.sh"}};
  return wish;
}

reconcile::ClusterWish example() {
  return reconcile::example_cluster(
      {group("ctl", NodeType::Controller, "ml.m5.xlarge", 1), group("p5", NodeType::Compute, kP5, 20)});
}

class RepairTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(settles()); }
  void TearDown() override { EXPECT_THAT(world_.broken, IsEmpty()); }
  bool settles(Millis length = 10 * kMinute) {
    return world_.run(length, [&] { return world_.all_ready(); });
  }
  MachineId machine(const std::string& node) { return world_.slot(node).machine->id; }
  void reboot(const std::string& node) {
    world_.ask(reconcile::UserActsOnNodes{{NodeAction::Reboot, {{MachineId(), world_.slot(node).id}}}});
    world_.run(Millis(0));
    EXPECT_THAT(std::get<reconcile::ActOnNodesAnswer>(world_.answers.back().value()).done, SizeIs(1));
  }
  void says(const std::string& node, int gpus, std::int64_t free_percent = 50) {
    agent::Health health;
    health.view.machine_id = machine(node).value;
    health.view.gpus = gpus;
    health.view.disks = {{"/", free_percent, 100}};
    world_.hear(reconcile::HealthSeen{machine(node), health});
  }
  void admin(const std::string& node, const std::string& state, const std::string& reason) {
    world_.slurm.admin_sets(node, state, reason);
    world_.slurm_tells();
  }
  int events(const std::string& part) {
    int count = 0;
    for (const auto& text : world_.event_texts()) count += text.find(part) != std::string::npos ? 1 : 0;
    return count;
  }
  World world_{12, example()};
};

TEST_F(RepairTest, ARebootKeepsTheMachineAndWaitsForTheJob) {
  const auto job = world_.slurm.run_job("gpu", 20);
  const MachineId before = machine("p5-3");
  reboot("p5-3");
  world_.run(10 * kMinute);
  EXPECT_THAT(world_.reboots, IsEmpty()) << "a job runs on it";
  world_.slurm.end_job(job);
  world_.slurm_tells();
  ASSERT_TRUE(world_.run(kMinute, [&] { return !world_.reboots.empty() && world_.all_ready(); }));
  EXPECT_THAT(world_.reboots, ElementsAre("p5-3"));
  EXPECT_EQ(machine("p5-3"), before);
  EXPECT_EQ(events("Instance Reboot " + before.value), 1);
  EXPECT_EQ(world_.slurm.run_job("gpu", 20).size(), 20U) << "it is not back in Slurm";
}

TEST_F(RepairTest, ARebootSurvivesACrashAtAnyEffect) {
  for (int nth = 1; nth <= 6; ++nth) {
    for (const bool after : {false, true}) {
      const MachineId before = machine("p5-3");
      const auto reboots = world_.reboots.size();
      world_.crash_at(nth, after);
      reboot("p5-3");
      ASSERT_TRUE(world_.run(10 * kMinute, [&] { return world_.reboots.size() > reboots && world_.all_ready(); }));
      EXPECT_EQ(machine("p5-3"), before);
      world_.crash_at(0, false);
      world_.run(kMinute);
    }
  }
}

TEST_F(RepairTest, AnAdminsOrderWithStateFailWaitsForTheJob) {
  const auto job = world_.slurm.run_job("gpu", 20);
  const MachineId before = machine("p5-3");
  admin("p5-3", "fail", "Action:Replace");
  world_.run(10 * kMinute);
  EXPECT_EQ(machine("p5-3"), before);
  world_.slurm.end_job(job);
  world_.slurm_tells();
  ASSERT_TRUE(world_.run(5 * kMinute, [&] { return world_.all_ready() && machine("p5-3") != before; }));
  EXPECT_EQ(world_.slurm.run_job("gpu", 20).size(), 20U);
}

TEST_F(RepairTest, AnAdminsOrderWithStateDownActsAtOnce) {
  world_.slurm.run_job("gpu", 20);
  const MachineId third = machine("p5-3");
  const MachineId fourth = machine("p5-4");
  admin("p5-3", "down", "Action:Replace");
  admin("p5-4", "down", "Action:Reboot");
  ASSERT_TRUE(world_.run(5 * kMinute, [&] { return world_.all_ready() && machine("p5-3") != third; }));
  EXPECT_THAT(world_.reboots, ElementsAre("p5-4"));
  EXPECT_EQ(machine("p5-4"), fourth);
}

TEST_F(RepairTest, OrdersAreExact) {
  const MachineId before = machine("p5-3");
  admin("p5-3", "down", "action:replace");
  admin("p5-4", "drain", "Action:Reboot");
  admin("p5-5", "fail", "Action:Reboot please");
  world_.run(10 * kMinute);
  EXPECT_EQ(machine("p5-3"), before);
  EXPECT_THAT(world_.reboots, IsEmpty());
}

TEST_F(RepairTest, AMissingGpuIsRebootedThenReplaced) {
  const MachineId before = machine("p5-3");
  says("p5-3", 7);
  ASSERT_TRUE(world_.run(5 * kMinute, [&] { return !world_.reboots.empty() && world_.all_ready(); }));
  EXPECT_EQ(machine("p5-3"), before);
  EXPECT_EQ(events("is not healthy: it has 7 of 8 GPUs"), 1);
  says("p5-3", 8);
  world_.run(kMinute);
  says("p5-3", 6);
  ASSERT_TRUE(world_.run(5 * kMinute, [&] { return world_.all_ready() && machine("p5-3") != before; }));
  EXPECT_THAT(world_.reboots, SizeIs(1));
}

TEST_F(RepairTest, AFaultThatPassesIsNotRepaired) {
  says("p5-3", 7);
  world_.run(kMinute / 2);
  says("p5-3", 8);
  world_.run(10 * kMinute);
  EXPECT_THAT(world_.reboots, IsEmpty());
  EXPECT_EQ(events("is not healthy"), 0);
}

TEST_F(RepairTest, NoMoreThanTheBudgetAtATime) {
  const auto job = world_.slurm.run_job("gpu", 20);  // so that repairs take their time
  for (int i = 1; i <= 10; ++i) says(fmt::format("p5-{}", i), 7);
  world_.run(30 * kMinute);
  int draining = 0;
  for (const auto& [id, slot] : world_.state().slots) draining += slot.state == SlotState::Draining ? 1 : 0;
  EXPECT_EQ(draining, 2) << "10 % of 20";
  world_.slurm.end_job(job);
  world_.slurm_tells();
  for (int i = 0; i < 100 && world_.reboots.size() < 10; ++i) {
    world_.run(kMinute / 4);
    for (const auto& node : world_.reboots) says(node, 8);
  }
  EXPECT_THAT(world_.reboots, SizeIs(10));
}

TEST_F(RepairTest, ASilentMachineIsRebootedOnlyWhenSlurmHasLostItToo) {
  world_.hear(reconcile::AgentSilent{machine("p5-3"), world_.now()});
  world_.run(20 * kMinute);
  EXPECT_THAT(world_.reboots, IsEmpty());
  admin("p5-3", "down", "Not responding");
  ASSERT_TRUE(world_.run(5 * kMinute, [&] { return !world_.reboots.empty(); }));
}

TEST_F(RepairTest, WhoHearsNobodyRepairsNobody) {
  for (int i = 1; i <= 15; ++i) {
    world_.hear(reconcile::AgentSilent{machine(fmt::format("p5-{}", i)), world_.now()});
    world_.slurm.admin_sets(fmt::format("p5-{}", i), "down", "Not responding");
  }
  world_.slurm_tells();
  world_.run(60 * kMinute);
  EXPECT_THAT(world_.reboots, IsEmpty());
}

TEST_F(RepairTest, WhatSlurmItselfDrainedIsRebootedAfterItsJobs) {
  const auto job = world_.slurm.run_job("gpu", 20);
  admin("p5-3", "drain", "Kill task failed");
  admin("p5-4", "drain", "hands off");
  world_.run(10 * kMinute);
  EXPECT_THAT(world_.reboots, IsEmpty()) << "a job runs on it";
  world_.slurm.end_job(job);
  world_.slurm_tells();
  ASSERT_TRUE(world_.run(5 * kMinute, [&] { return !world_.reboots.empty() && world_.ready("p5") == 20; }));
  EXPECT_THAT(world_.reboots, ElementsAre("p5-3"));
  EXPECT_EQ(events("is not healthy: slurmctld shows it"), 1);
}

TEST_F(RepairTest, ANodeThatSlurmctldHasLostIsRebootedAlthoughItsAgentIsHeard) {
  says("p5-3", 8);
  admin("p5-3", "down", "Not responding");
  ASSERT_TRUE(world_.run(5 * kMinute, [&] { return !world_.reboots.empty() && world_.all_ready(); }));
  EXPECT_THAT(world_.reboots, ElementsAre("p5-3"));
}

TEST_F(RepairTest, AClockThatIsOffIsToldAndNothingMore) {
  const auto drifts = [&](const std::string& node, Millis ahead) {
    agent::Health health;
    health.view.machine_id = machine(node).value;
    health.view.gpus = 8;
    health.clock_ahead = ahead;
    world_.hear(reconcile::HealthSeen{machine(node), health});
  };
  drifts("p5-3", Millis(-301'000));
  world_.run(20 * kMinute);
  EXPECT_EQ(events("is not healthy: its clock is 301 s behind that of the control plane"), 1);
  EXPECT_THAT(world_.reboots, IsEmpty());
  // All of them: then it is the control plane's.
  for (int i = 4; i <= 20; ++i) drifts(fmt::format("p5-{}", i), Millis(90'000));
  world_.run(20 * kMinute);
  EXPECT_EQ(events("its clock"), 1);
}

TEST_F(RepairTest, WithoutNodeRecoveryAFaultIsOnlyTold) {
  reconcile::ClusterChange change;
  change.node_recovery = "None";
  world_.change(change);
  says("p5-3", 7);
  world_.run(20 * kMinute);
  EXPECT_THAT(world_.reboots, IsEmpty());
  EXPECT_EQ(events("is not healthy: it has 7 of 8 GPUs"), 1);
  EXPECT_FALSE(world_.slot("p5-3").conditions.at("Healthy").holds);
}

class LifecycleTest : public testing::Test {
 protected:
  LifecycleTest() { world_.settings.scripts = true; }
  bool settles(Millis length) {
    return world_.run(length, [&] { return world_.all_ready() && world_.state().slots.size() == 21; });
  }
  World world_{13, example()};
};

TEST_F(LifecycleTest, EveryMachineRunsItsScript) {
  std::string config;
  world_.script_fault = [&](const agent::Lifecycle& lifecycle) {
    EXPECT_EQ(lifecycle.digest, "d1");
    EXPECT_EQ(lifecycle.folder, "/tmp/bucket/life");
    EXPECT_EQ(lifecycle.script, "on_create.sh");
    config = lifecycle.config.at(0).text;
    return "";
  };
  ASSERT_TRUE(settles(10 * kMinute));
  EXPECT_EQ(world_.script_runs, 21);
  EXPECT_THAT(config, HasSubstr("PrimaryControllerIp"));
}

TEST_F(LifecycleTest, AScriptThatFailsIsTriedAgainOnTheSameMachine) {
  int failures = 2;
  world_.script_fault = [&](const agent::Lifecycle&) {
    return failures-- > 0 ? "lifecycle script on_create.sh (OnCreate): cannot mount /fsx" : "";
  };
  ASSERT_TRUE(settles(10 * kMinute));
  EXPECT_EQ(world_.launch_calls["ml.m5.xlarge"], 1) << "a machine was burnt";
  EXPECT_EQ(world_.launch_calls[kP5], 20);
}

TEST_F(LifecycleTest, AScriptThatAlwaysFailsSlowsItsGroupDown) {
  world_.script_fault = [&](const agent::Lifecycle& lifecycle) {
    const bool compute = lifecycle.config.at(0).text.find("p5-") != std::string::npos;
    return compute ? "lifecycle script on_create.sh (OnCreate): cannot mount /fsx" : "";
  };
  world_.run(std::chrono::hours(2));
  EXPECT_EQ(world_.state().groups.at("p5").status, GroupStatus::Degraded);
  EXPECT_THAT(world_.state().groups.at("p5").failure_message, HasSubstr("cannot mount /fsx"));
  EXPECT_LT(world_.launch_calls[kP5], 60);
  world_.script_fault = [](const agent::Lifecycle&) { return ""; };
  EXPECT_TRUE(settles(std::chrono::hours(1))) << "the canary did not find that it was mended";
}

TEST_F(LifecycleTest, AnotherScriptIsTriedAtOnce) {
  world_.script_fault = [&](const agent::Lifecycle& lifecycle) {
    const bool compute = lifecycle.config.at(0).text.find("p5-") != std::string::npos;
    return compute && lifecycle.digest == "d1" ? "lifecycle script on_create.sh (OnCreate): cannot mount /fsx" : "";
  };
  world_.run(std::chrono::hours(3));
  ASSERT_TRUE(world_.run(std::chrono::hours(1), [&] {
    const auto& canary = world_.state().groups.at("p5").canary_at;
    return canary && *canary > world_.now() + 10 * kMinute;
  }));
  world_.scripts = std::string("d2");
  EXPECT_TRUE(settles(2 * kMinute)) << "the next canary was waited for";
}

TEST_F(LifecycleTest, ScriptsThatCannotBeFetchedBurnNoMachine) {
  world_.scripts = fail(ErrorCode::kNotFound, "cannot read /s3/bucket/life: No such file or directory");
  world_.run(20 * kMinute);
  EXPECT_EQ(world_.launch_calls["ml.m5.xlarge"], 1);
  EXPECT_THAT(world_.event_texts(), Contains(HasSubstr("could not be fetched")).Times(2)) << "once for each group";
  world_.scripts = std::string("d1");
  EXPECT_TRUE(settles(10 * kMinute));
}

TEST_F(LifecycleTest, WithoutARootNoScriptsAreRun) {
  world_.settings.scripts = false;
  world_.script_fault = [](const agent::Lifecycle&) { return ""; };
  ASSERT_TRUE(settles(10 * kMinute));
  EXPECT_EQ(world_.script_runs, 0);
}

}  // namespace
}  // namespace espalier::sim
