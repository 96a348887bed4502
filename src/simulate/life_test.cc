// Lives whose figures can be worked out by hand.
#include "simulate/life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::simulate {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::AllOf;
using testing::DoubleNear;
using testing::Ge;
using testing::Le;
using testing::Optional;

constexpr Millis kJoin = std::chrono::seconds(40);  // from booted to used: ours, and pools that are asked again

LifeReport lived(const std::string& text, bool continuous) {
  const auto scenario = read_scenario(text);
  if (!scenario) throw std::runtime_error(scenario.error().message);
  auto report = live(*scenario, continuous, [](Millis) {});
  if (!report) throw std::runtime_error(report.error().message);
  return std::move(*report);
}

auto soon_after(Millis at) { return Optional(AllOf(Ge(at), Le(at + kJoin))); }

// Boots take five minutes, the controller's first; two of eight nodes can be had after three hours.
const std::string kShort = R"(
duration: 6h
groups: {g: {type: ml.p5.48xlarge, count: 8}}
capacity: {ml.p5.48xlarge: [{at: 0s, machines: 6}, {at: 3h, machines: 8}]}
machines: {launch: 0, boot: 5m, setup: 0}
)";

TEST(Life, SixOfEightNodesWorkAtOnce) {
  const LifeReport life = lived(kShort + "jobs: [{nodes: 6, runs: 1h}]\n", true);
  EXPECT_THAT(life.in_service, soon_after(minutes(5)));
  EXPECT_THAT(life.first_job, soon_after(minutes(10)));
  EXPECT_THAT(life.full_size, soon_after(hours(3) + minutes(5)));
  EXPECT_EQ(life.creations, 1);
  EXPECT_EQ(life.jobs.ended, 1);
  EXPECT_NEAR(life.hours.used, 6, 0.01);
  EXPECT_NEAR(life.hours.wished, 48, 0.01);
  EXPECT_NEAR(life.hours.had, 6 * (6 - 5 / 60.0) + 2 * 3, 0.1);
}

TEST(Life, AllOrNothingWaitsForTheLastOne) {
  const LifeReport life =
      lived(kShort + "jobs: [{nodes: 6, runs: 1h}]\nall_or_nothing: {gives_up_after: 10h}\n", false);
  EXPECT_THAT(life.first_job, soon_after(hours(3) + minutes(5)));
  EXPECT_THAT(life.full_size, soon_after(hours(3) + minutes(5)));
  EXPECT_EQ(life.creations, 1);
}

TEST(Life, AllOrNothingGoesBackAndIsTriedAgain) {
  const LifeReport life = lived(kShort + "jobs: [{nodes: 6, runs: 1h}]\n", false);
  EXPECT_GT(life.failed_creations, 3);
  EXPECT_EQ(life.creations, life.failed_creations + 1);
  ASSERT_TRUE(life.first_job);
  EXPECT_GE(*life.first_job, hours(3) + minutes(5));
  EXPECT_EQ(life.jobs.ended, 1);
}

TEST(Life, AJobThatLosesANodeRunsAgainOnAnother) {
  const std::string text = R"(
duration: 4h
groups: {g: {type: ml.p5.48xlarge, count: 2}}
machines: {launch: 0, boot: 5m, setup: 0}
failures: [{at: 3570100ms, node: g-2}]  # just after a look of the queue: at the next one slurmctld knows that it is dead
jobs: [{nodes: 2, runs: 2h, checkpoint: 10m}]
)";
  const LifeReport life = lived(text, true);
  EXPECT_EQ(life.jobs.restarts, 1);
  EXPECT_EQ(life.jobs.ended, 1);
  EXPECT_EQ(life.groups[0].died, 1);
  EXPECT_EQ(life.groups[0].launched, 3);
  EXPECT_NEAR(life.hours.used, 2 * 2 + 2 * 9 / 60.0, 2 * 1 / 60.0) << "some nine minutes after a checkpoint are lost";
}

TEST(Life, ASizeThatIsChangedIsReachedToo) {
  const LifeReport life =
      lived(kShort + "changes: [{at: 1h, group: g, count: 4}, {at: 4h, group: g, count: 7}]\n", true);
  ASSERT_EQ(life.groups[0].sizes.size(), 3U);
  EXPECT_EQ(life.groups[0].sizes[0].reached, std::nullopt);
  EXPECT_THAT(life.groups[0].sizes[1].reached, soon_after(hours(1)));
  EXPECT_THAT(life.groups[0].sizes[2].reached, soon_after(hours(4) + minutes(5)));
}

TEST(Life, TheSameSeedMakesTheSameReport) {
  const std::string text =
      kShort + "failures: [{every: 20h, group: g}]\njobs: [{nodes: 2, runs: 20m, every: 30m, times: 9}]\n";
  const auto json = [&](const std::string& seed) {
    return json::serialize(to_json(lived(text + "seed: " + seed, true)));
  };
  EXPECT_EQ(json("1"), json("1"));
  EXPECT_NE(json("1"), json("2"));
}

TEST(Life, WhatTheApiRefusesIsSaid) {
  const auto scenario = read_scenario("duration: 1h\ngroups: {'g g': {type: ml.p5.48xlarge, count: 1}}");
  ASSERT_TRUE(scenario);
  const auto report = live(*scenario, true, [](Millis) {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(report.error().message, testing::HasSubstr("CreateCluster is refused"));
}

}  // namespace
}  // namespace espalier::simulate
