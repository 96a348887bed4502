// The topology of a cluster in the simulated world: set by users, changed by other hands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "reconcile/example_wish_test.h"
#include "world.h"

namespace espalier::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Millis kMinute{60'000};

reconcile::ClusterWish example() {
  return reconcile::example_cluster({reconcile::example_group("ctl", NodeType::Controller, "ml.m5.xlarge", 1),
                                     reconcile::example_group("p5", NodeType::Compute, "ml.p5.48xlarge", 4)});
}

class TopologyTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(world_.run(10 * kMinute, [&] { return world_.all_ready(); }));
    world_.run(kMinute);
    ASSERT_THAT(world_.slurm.leaves(), SizeIs(4));
  }
  void TearDown() override { EXPECT_THAT(world_.broken, IsEmpty()); }
  void set(const char* wish) {
    reconcile::ClusterChange change;
    change.topology = wish;
    world_.change(change);
  }
  std::ptrdiff_t said(std::string_view text) {
    return std::ranges::count_if(world_.event_texts(), [&](const auto& event) { return event.starts_with(text); });
  }
  World world_{7, example()};
};

TEST_F(TopologyTest, IsSetWhileTheClusterRunsAndOutlivesTheProcess) {
  const auto before = world_.slurm.leaves();
  set("off");
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.slurm.leaves().empty(); }));
  EXPECT_EQ(said("The topology of Cluster demo was set to off"), 1);
  world_.crash_at(1, true);
  world_.run(10 * kMinute);
  EXPECT_EQ(world_.state().cluster.topology, "off");
  EXPECT_THAT(world_.slurm.leaves(), IsEmpty());
  set("auto");
  ASSERT_TRUE(world_.run(kMinute, [&] { return world_.slurm.leaves() == before; }));
}

TEST_F(TopologyTest, WhatOtherHandsChangedIsToldOnceAndMended) {
  const auto before = world_.slurm.leaves();
  const int reconfigures = world_.slurm.reconfigures;
  world_.slurm.admin_writes_topology("SwitchName=mine Nodes=p5-[1-4]\n");
  ASSERT_TRUE(world_.run(2 * kMinute, [&] { return world_.slurm.leaves() == before; }));
  world_.run(10 * kMinute);
  EXPECT_EQ(said("Slurm's topology is no longer what was applied"), 1);
  EXPECT_EQ(world_.slurm.reconfigures, reconfigures + 1);
}

// What nvidia-imex reads on every machine of an NVLink domain: the addresses of all of them.
class ImexTest : public testing::Test {
 protected:
  static reconcile::ClusterWish ultra_servers() {
    auto wish = example();
    wish.groups[1].instance_type = "ml.p6e-gb200.36xlarge";
    return wish;
  }
  bool all_are_told() {
    std::map<std::string, std::set<std::string>> addresses;  // by domain
    for (const auto& [id, slot] : world_.state().slots)
      if (slot.machine && slot.group == "p5") addresses[slot.machine->position.domain].insert(slot.machine->address);
    return std::ranges::all_of(world_.state().slots, [&](const auto& item) {
      const auto& slot = item.second;
      if (slot.group != "p5") return true;
      std::set<std::string> told;
      std::istringstream lines(slot.machine ? world_.extra[slot.machine->id]["/etc/nvidia-imex/nodes_config.cfg"] : "");
      for (std::string line; std::getline(lines, line);) told.insert(line);
      return slot.machine && told == addresses[slot.machine->position.domain];
    });
  }
  World world_{7, ultra_servers()};
};

TEST_F(ImexTest, EveryMachineHasTheAddressesOfItsDomain) {
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return world_.all_ready() && all_are_told(); }));
  const auto old = world_.slot("p5-2").machine->id;
  world_.kill(old);
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return world_.all_ready() && world_.slot("p5-2").machine->id != old; }));
  EXPECT_TRUE(world_.run(kMinute, [&] { return all_are_told(); }));
}

TEST_F(ImexTest, AListThatCouldNotBeWrittenIsSentAgain) {
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return world_.all_ready() && all_are_told(); }));
  world_.extra_fails = 5;  // three are told of the next machine
  world_.kill(world_.slot("p5-2").machine->id);
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return world_.extra_fails == 0 && world_.all_ready(); }));
  EXPECT_TRUE(world_.run(kMinute, [&] { return all_are_told(); }));
  EXPECT_EQ(std::ranges::count_if(world_.event_texts(),
                                  [](const auto& event) { return event.find("could not write") != std::string::npos; }),
            3)
      << "once for each machine";
}

TEST_F(ImexTest, OneUnderADeepHealthCheckIsToldToo) {
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return world_.all_ready() && all_are_told(); }));
  ASSERT_THAT(world_.slurm.run_job("gpu", 1), ElementsAre("p5-1"));  // until it ends the check waits
  world_.ask(reconcile::UserChecksHealth{
      {{reconcile::GroupCheck{"p5", {world_.slot("p5-1").machine->id}, {CheckKind::InstanceStress}}}}});
  const auto old = world_.slot("p5-2").machine->id;
  world_.kill(old);
  EXPECT_TRUE(world_.run(5 * kMinute, [&] {
    const auto& machine = world_.slot("p5-2").machine;
    return machine && machine->id != old && all_are_told();
  }));
  EXPECT_EQ(world_.slot("p5-1").state, SlotState::Checking);
}

TEST_F(TopologyTest, AClusterAtRestIsOnlyLookedAt) {
  const int reconfigures = world_.slurm.reconfigures;
  const auto revision = world_.state().slurm.revision;
  world_.run(60 * kMinute);
  EXPECT_EQ(world_.slurm.reconfigures, reconfigures);
  EXPECT_EQ(world_.state().slurm.revision, revision);
}

}  // namespace
}  // namespace espalier::sim
