// The simulation itself: it is the same twice, its parts do what the real ones do, and some lives go well.
#include "simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/on_vfs.h"
#include "store/test_samples.h"

namespace espalier::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Millis kMinute{60'000};

// ---- lives ---------------------------------------------------------------------------------------------------------

struct Lived {
  bool well = false;
  std::uint64_t trace = 0;
  std::vector<std::string> broken;
};

Lived live(std::uint64_t seed) {
  Simulation simulation(seed, life(seed));
  const bool well = simulation.live();
  return {well, simulation.trace_hash(), simulation.broken()};
}

TEST(Simulation, LivesGoWell) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    EXPECT_THAT(live(seed).broken, IsEmpty()) << "to see it: sim_run --seed " << seed << " --trace";
}

TEST(Simulation, ASeedMakesOneTrace) {
  const Lived first = live(7);
  EXPECT_EQ(first.trace, live(7).trace);
  EXPECT_NE(first.trace, live(8).trace);
}

// ---- by hand, without faults ---------------------------------------------------------------------------------------

class SimulationTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.user().wish_for("demo", {true,
                                    {{"ctl", {"Controller", "ml.m5.xlarge", 1}},
                                     {"p5", {"Compute", "ml.p5.48xlarge", 6}},
                                     {"cpu", {"Compute", "ml.m5.large", 2}}}});
    world_.start();
    world_.user().create("demo");
  }
  void TearDown() override { EXPECT_THAT(world_.broken(), IsEmpty()); }
  bool grows() {
    return world_.run(10 * kMinute, [&] { return world_.complete("demo"); });
  }
  void scale(const std::string& group, int count) {
    world_.user().wishes()["demo"].groups[group].count = count;
    world_.user().update("demo");
  }
  Simulation world_{7};
};

TEST_F(SimulationTest, GrowsAndTellsTheTopology) {
  ASSERT_TRUE(grows());
  const auto [status, topology] = world_.ask("Espalier.DescribeTopology", {{"ClusterName", "demo"}});
  EXPECT_EQ(status, 200);
  EXPECT_TRUE(topology.at("True").as_bool());
  EXPECT_GT(world_.slurm("demo").start_job("p5-part", 6), 0);
}

TEST_F(SimulationTest, SurvivesACrashAtAnyTime) {
  for (int i = 0; i < 10; ++i) {
    world_.run(Millis(7'000));
    world_.crash();
  }
  EXPECT_TRUE(grows());
  EXPECT_EQ(world_.cloud().all_alive().size(), 9U);
}

TEST_F(SimulationTest, AShortageOfOneGroupHoldsUpNoOther) {
  world_.set_capacity("ml.p5.48xlarge", 4);
  ASSERT_TRUE(
      world_.run(10 * kMinute, [&] { return world_.ready("demo", "cpu") == 2 && world_.ready("demo", "p5") == 4; }));
  EXPECT_FALSE(world_.run(10 * kMinute, [&] { return world_.ready("demo", "p5") > 4; }));
  world_.set_capacity("ml.p5.48xlarge", std::nullopt);
  EXPECT_TRUE(grows());
}

TEST_F(SimulationTest, ADeadMachineIsReplaced) {
  ASSERT_TRUE(grows());
  world_.kill("demo", "p5-3");
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return !world_.complete("demo"); }));
  EXPECT_TRUE(grows());
  world_.kill("demo", "ctl-1");
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return !world_.complete("demo"); }));
  EXPECT_TRUE(grows());
}

TEST_F(SimulationTest, ABusyNodeThatHasToGoIsWaitedFor) {
  ASSERT_TRUE(grows());
  const int job = world_.slurm("demo").start_job("p5-part", 6);
  ASSERT_GT(job, 0);
  scale("p5", 4);
  EXPECT_FALSE(world_.run(10 * kMinute, [&] { return world_.cloud().running("ml.p5.48xlarge") < 6; }));
  world_.slurm("demo").end_job(job);
  EXPECT_TRUE(world_.run(10 * kMinute, [&] { return world_.cloud().running("ml.p5.48xlarge") == 4; }));
}

TEST_F(SimulationTest, AnAdminWhoIsQuickerThanTheFirstOrderIsNotOverruled) {
  ASSERT_TRUE(
      world_.run(10 * kMinute, [&] { return world_.cluster("demo") != nullptr && world_.cloud().made_count(); }));
  Slurm& slurm = world_.slurm("demo");
  slurm.refuse = {"UpdateNodes"};
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return slurm.up(); }));
  world_.run(Millis(5'000));
  ASSERT_EQ(world_.cluster("demo")->slurm.revision, 0);
  slurm.admin_sets("p5-1", "drain", "alice: looks at it");
  world_.crash();  // who comes next has not seen the node before
  slurm.refuse.clear();
  ASSERT_TRUE(world_.run(10 * kMinute, [&] { return world_.ready("demo") == 8; }));
  EXPECT_TRUE(slurm.nodes().at("p5-1").drain);
  EXPECT_EQ(slurm.nodes().at("p5-1").reason, "alice: looks at it");
}

// ---- isolation ----

struct Trouble {
  int others = 0;  // nodes that another group wants of a type of its own
  bool starves = false;
  bool hangs = false;
};

// When the group `cpu` is Ready, in a world in which everything takes as long as it always does.
Millis ready_after(const Trouble& trouble) {
  Options options;
  options.calls = {Millis(1'000), Millis(1'000), Millis(50), Millis(50)};
  options.machines = {Millis(9'000), Millis(9'000), Millis(500),   Millis(500),
                      Millis(50),    Millis(50),    Millis(1'000), {}};
  options.network_slowest = Millis(0);
  Simulation world(3, options);
  world.nature().time.in_order = true;  // chance would be a difference of its own
  WishedCluster wish{true, {{"ctl", {"Controller", "ml.m5.xlarge", 1}}, {"cpu", {"Compute", "ml.m5.large", 20}}}};
  if (trouble.others > 0) wish.groups["p5"] = {"Compute", "ml.p5.48xlarge", trouble.others};
  if (trouble.starves) world.set_capacity("ml.p5.48xlarge", 0);
  if (trouble.hangs) world.cloud().hanging.insert("ml.p5.48xlarge");
  world.user().wish_for("demo", wish);
  world.start();
  world.user().create("demo");
  EXPECT_TRUE(world.run(10 * kMinute, [&] { return world.ready("demo", "cpu") == 20; }));
  EXPECT_EQ(world.ready("demo", "p5"), 0) << "it was to be the slower one";
  EXPECT_THAT(world.broken(), IsEmpty());
  return world.nature().now() - kStart;
}

TEST(Isolation, AGroupTakesItsTimeAloneWhateverBecomesOfOthers) {
  const Millis alone = ready_after({});
  EXPECT_LT(alone, kMinute);
  EXPECT_EQ(ready_after({.others = 700, .starves = true}), alone);
  EXPECT_EQ(ready_after({.others = 700, .hangs = true}), alone) << "more than there are threads for launches";
}

// ---- parts ---------------------------------------------------------------------------------------------------------

TEST(Fiber, StopsInTheMiddleAndGoesOn) {
  std::vector<int> order;
  Fiber fiber([&] {
    order.push_back(1);
    Fiber::suspend();
    order.push_back(3);
  });
  fiber.resume();
  order.push_back(2);
  EXPECT_FALSE(fiber.ended());
  fiber.resume();
  EXPECT_TRUE(fiber.ended());
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

// The power fails at every write in turn: what was answered is there, and of the commit under way all or nothing.
TEST(MemoryDisk, KeepsWhatWasAnsweredThroughAPowerFailureAtAnyWrite) {
  bool failed = true;
  for (int nth = 1; failed; ++nth) {
    MemoryDisk disk(static_cast<std::uint64_t>(nth));
    std::int64_t answered = 0;
    {
      auto store = store::sqlite_store_on(disk.vfs(), "state.db").value();
      ASSERT_EQ(store->apply(store::samples::create("c1", "one")).value(), 1);
      disk.power_fails_at_write(nth);
      for (answered = 1; answered < 6; ++answered)
        if (!store->apply(store::samples::change("c1", answered))) break;
      failed = disk.has_failed();
      disk.process_ends();
    }
    disk.process_begins();
    const auto states = store::sqlite_store_on(disk.vfs(), "state.db").value()->load().value();
    ASSERT_EQ(states.size(), 1U) << nth;
    EXPECT_GE(states[0].revision, answered) << nth;
    EXPECT_LE(states[0].revision, answered + 1) << nth;
    ASSERT_LT(nth, 1'000);
  }
}

}  // namespace
}  // namespace espalier::sim
