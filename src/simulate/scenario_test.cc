#include "simulate/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::simulate {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* kLeast = "duration: 1h\ngroups:\n  g: {type: ml.p5.48xlarge, count: 8}\n";

TEST(Scenario, TheLeastIsADurationAndAGroup) {
  const auto scenario = read_scenario(kLeast);
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->duration, hours(1));
  ASSERT_EQ(scenario->groups.size(), 1U);
  EXPECT_EQ(scenario->groups[0].partition, "g");
  EXPECT_EQ(scenario->gives_up_after, minutes(20));
  EXPECT_TRUE(scenario->capacity.empty());
}

TEST(Scenario, EverythingThatThereIs) {
  const auto scenario = read_scenario(R"(
name: All
duration: 1d
seed: 9
controller: ml.c5.xlarge
groups:
  a: {type: ml.p5.48xlarge, count: 8}
  b: {type: ml.m5.large, count: 2, partition: cpu}
changes: [{at: 5h, group: a, count: 4}, {at: 2h, group: a, count: 16}]
capacity:
  ml.p5.48xlarge: [{at: 0s, machines: 6}, {at: 3h, machines: unlimited}]
  ml.m5.large: 1
fabric: {leaf_size: 2}
machines: {launch: 2s, boot: 3m-5m, setup: 0}
failures:
  - {at: 1h, node: a-3}
  - {at: 1h, group: a, machines: 4}
  - {every: 100h, group: b}
  - {at: 2h, control_plane: true}
chances: {never_boots: 0.1}
jobs: [{name: j, partition: cpu, nodes: 1, runs: 10m, checkpoint: 5m, at: 1m, every: 1h, times: 3}]
all_or_nothing: {gives_up_after: 1h, tries_again_after: 0}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->changes[0].count, 16) << "by time";
  ASSERT_EQ(scenario->capacity.size(), 3U);
  EXPECT_EQ(scenario->capacity[2].machines, std::nullopt);
  EXPECT_EQ(scenario->boot.to, minutes(5));
  EXPECT_EQ(scenario->launch.from, seconds(2));
  EXPECT_EQ(scenario->failures.size(), 4U);
  EXPECT_DOUBLE_EQ(scenario->chances.rate(sim::Fault::NeverBoots), 0.1);
  EXPECT_EQ(scenario->jobs[0].job.checkpoint, minutes(5));
  EXPECT_EQ(scenario->fabric.places("ml.p5.48xlarge", {}, 3).size(), 3U);
}

TEST(Scenario, IsJsonToo) {
  EXPECT_TRUE(read_scenario(R"({"duration": "1h", "groups": {"g": {"type": "ml.m5.large", "count": 1}}})"));
}

struct Wrong {
  std::string more;
  std::string message;
};

TEST(Scenario, WhatIsWrongIsSaidWithItsLineAndWhatIsAllowed) {
  const std::vector<Wrong> wrong{
      {"jops: []", "line 4: unknown member 'jops'; there are name, duration"},
      {"duration: 2h", "line 4: 'duration' is there twice"},
      {"seed: -1", "line 4: 'seed' is '-1': it must be a whole number"},
      {"controller: ml.x9.large", "line 4: 'controller': there is no instance type 'ml.x9.large'"},
      {"changes: 3", "line 4: changes must be a list"},
      {"changes:\n  - {at: 2h, group: g, count: 1}", "line 5: 'changes[0].at': 2h is not in"},
      {"changes: [{at: 1m, group: h, count: 1}]", "'changes[0].group' is 'h': it must be one of g"},
      {"changes: [{at: 1m, group: g}]", "'changes[0].count' is missing"},
      {"changes: [{at: 1m, group: g, count: 6759}]", "must be 0 to 6758"},
      {"capacity: {p5: 3}", "'capacity.p5': there is no instance type 'p5'"},
      {"capacity: {ml.p5.48xlarge: many}", "'capacity.ml.p5.48xlarge' must be 0 to 65536, or unlimited"},
      {"capacity: {ml.p5.48xlarge: [{at: 0s}]}", "'capacity.ml.p5.48xlarge[0].machines' is missing"},
      {"fabric: {leafs: 1}", "line 4: fabric: line 4: unknown member 'leafs'"},
      {"machines: {boot: 5m-3m}", "the shorter time comes first"},
      {"machines: {boot: soon}", "'soon' is no duration"},
      {"machines: {boot: 3h}", "3h is not in"},
      {"failures: [{at: 1m}]", "failures[0] needs one of node, group, control_plane"},
      {"failures: [{node: g-1}]", "failures[0] needs one of at, every"},
      {"failures: [{every: 10h, node: g-1}]", "'every' goes with a group"},
      {"failures: [{at: 1m, node: g-9999}]", "'failures[0].node' is 'g-9999': there are controller-1, g-1 to g-"},
      {"jobs: [{nodes: 9999, runs: 1h}]", "'jobs[0].nodes' is 9999, and partition g has never more than "},
      {"chances: {never_boots: 1.5}", "'chances.never_boots' is 1.5: it must be 0 to 1"},
      {"jobs: [{nodes: 1, runs: 1h, partition: q}]", "'jobs[0].partition' is 'q': it must be one of g"},
      {"jobs: [{nodes: 1, runs: 1h, times: 2}]", "'every' and 'times' go together"},
      {"jobs: [{nodes: 1, runs: 1h, every: 1s, times: 100000}, {nodes: 1, runs: 1h}]", "more than 100000 jobs"},
      {"jobs: [{nodes: 1}]", "'jobs[0].runs' is missing"},
      {"all_or_nothing: 3", "all_or_nothing must be a map"},
  };
  for (const auto& [more, message] : wrong) {
    const auto scenario = read_scenario(kLeast + more);
    ASSERT_FALSE(scenario) << more;
    EXPECT_EQ(scenario.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(scenario.error().message, HasSubstr(message)) << more;
  }
}

TEST(Scenario, GroupsHaveBounds) {
  const auto message = [](const std::string& groups) {
    const auto scenario = read_scenario("duration: 1h\ngroups: " + groups);
    return scenario ? "" : scenario.error().message;
  };
  EXPECT_THAT(message("{}"), HasSubstr("at least one group"));
  EXPECT_THAT(message("{g: {type: ml.m5.large, count: 0}}"), HasSubstr("'groups.g.count' is 0: it must be 1 to 6758"));
  EXPECT_THAT(message("{controller: {type: ml.m5.large, count: 1}}"), HasSubstr("the controller's own group"));
  std::string many;
  for (int i = 0; i < 11; ++i) many += fmt::format("{}g{}: {{type: ml.m5.large, count: 6000}}", i > 0 ? ", " : "", i);
  EXPECT_THAT(message("{" + many + "}"), HasSubstr("66000 nodes in all: 65536 at most"));
  EXPECT_THAT(read_scenario("groups: [").error().message, HasSubstr("line"));
  EXPECT_THAT(read_scenario("# nothing\n").error().message, HasSubstr("empty"));
  EXPECT_THAT(read_scenario("duration: 1h").error().message, HasSubstr("'groups' is missing"));
}

}  // namespace
}  // namespace espalier::simulate
