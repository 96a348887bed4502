#include "cli/progress.h"

#include <gmock/gmock.h>

namespace espalier::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Time kNow{Millis(1'000'000)};

wire::Group group(const std::string& name, int target) {
  wire::Group out;
  out.InstanceGroupName = name;
  out.InstanceType = "ml.p5.48xlarge";
  out.TargetCount = target;
  return out;
}

wire::Node node(const std::string& group_name, const std::string& state) {
  wire::Node out;
  out.InstanceGroupName = group_name;
  out.State = state;
  return out;
}

wire::Cluster cluster(std::vector<wire::Group> groups) {
  wire::Cluster out;
  out.ClusterName = "demo";
  out.ClusterStatus = "InService";
  out.InstanceGroups = std::move(groups);
  return out;
}

TEST(Progress, CountsNodesByState) {
  auto waiting = node("worker", "Backoff");
  waiting.Message = "no capacity";
  waiting.Attempts = 2;
  waiting.NextTry = 1012;
  const auto progress = read_progress(
      cluster({group("worker", 4)}),
      {node("worker", "Ready"), node("worker", "Ready"), node("worker", "Launching"), waiting, node("x", "Ready")},
      kNow);
  ASSERT_EQ(progress.groups.size(), 1u);
  EXPECT_EQ(summary(progress.groups[0]), "2/4 ready, 1 Backoff, 1 Launching");
  EXPECT_EQ(progress.groups[0].trouble, "no capacity (try 3 in 12s)");
  EXPECT_FALSE(is_grown(progress));
}

TEST(Progress, IsGrownWhenAllIsReadyAndNothingElseIsThere) {
  const auto wanted = cluster({group("worker", 1)});
  EXPECT_TRUE(is_grown(read_progress(wanted, {node("worker", "Ready")}, kNow)));
  EXPECT_FALSE(is_grown(read_progress(wanted, {}, kNow)));
  EXPECT_FALSE(is_grown(read_progress(wanted, {node("worker", "Ready"), node("worker", "Draining")}, kNow)))
      << "a scale-down is not done while a node is leaving";
  auto creating = wanted;
  creating.ClusterStatus = "Creating";
  EXPECT_FALSE(is_grown(read_progress(creating, {node("worker", "Ready")}, kNow)));
  EXPECT_TRUE(is_grown(read_progress(cluster({group("worker", 0)}), {}, kNow)));
}

TEST(Progress, IsDrawn) {
  const auto progress =
      read_progress(cluster({group("controller", 1), group("worker", 4)}),
                    {node("controller", "Ready"), node("worker", "Ready"), node("worker", "Booting")}, kNow);
  EXPECT_THAT(draw(progress, Millis(4200), "last event", {}),
              ElementsAre("demo  InService  4.2s",                                   //
                          "GROUP       READY  PROGRESS  TYPE            OTHERS",     //
                          "controller  1/1    █         ml.p5.48xlarge  -",          //
                          "worker      1/4    █░░░      ml.p5.48xlarge  1 Booting",  //
                          "last event"));
}

TEST(Progress, DrawnLinesFitTheTerminal) {
  auto failed = cluster({group("worker", 6758)});
  failed.FailureMessage = std::string(100, 'x');
  const auto lines = draw(read_progress(failed, {}, kNow), Millis(0), std::string(100, 'y'), {true, false, 40, 0});
  for (const auto& line : lines) EXPECT_LE(display_width(line), 40) << line;
}

TEST(Progress, ChangesAreOnlyWhatChanged) {
  const auto wanted = cluster({group("controller", 1), group("worker", 2)});
  const auto before = read_progress(wanted, {node("controller", "Ready")}, kNow);
  EXPECT_THAT(changes({}, before), ElementsAre("demo is InService", "controller: 1/1 ready", "worker: 0/2 ready"));
  EXPECT_THAT(changes(before, before), IsEmpty());
  const auto after = read_progress(wanted, {node("controller", "Ready"), node("worker", "Ready")}, kNow);
  EXPECT_THAT(changes(before, after), ElementsAre("worker: 1/2 ready"));
}

}  // namespace
}  // namespace espalier::cli
