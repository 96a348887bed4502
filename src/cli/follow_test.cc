#include "cli/follow.h"

#include <gmock/gmock.h>

#include "cli/fake_transport.h"

namespace espalier::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kCluster = R"({"ClusterName": "demo", "ClusterStatus": "InService",
  "InstanceGroups": [{"InstanceGroupName": "worker", "TargetCount": 1}]})";
constexpr const char* kReady = R"({"Nodes": [{"InstanceGroupName": "worker", "State": "Ready"}]})";
constexpr const char* kBooting = R"({"Nodes": [{"InstanceGroupName": "worker", "State": "Booting"}]})";
constexpr const char* kNothing = R"({"Events": [], "LastSequence": 4})";
constexpr const char* kNotThere = R"({"__type": "ResourceNotFound", "Message": "no"})";

// A long poll that takes its whole time.
void wait_in(FakeWorld& world) {
  world.transport.answer("Espalier.WatchEvents", [&world](const json::object& request) {
    world.clock.advance(Millis(1000 * request.at("WaitSeconds").get_int64()));
    return http::Response{200, {}, kNothing};
  });
}

TEST(Follow, EndsWhenTheClusterIsGrown) {
  FakeWorld world;
  wait_in(world);
  world.transport.answer("SageMaker.DescribeCluster", kCluster);
  world.transport.answer("Espalier.DescribeNodes", kBooting);
  world.transport.answer("Espalier.DescribeNodes", kReady);
  ASSERT_TRUE(follow(world.context, "demo", {}));
  EXPECT_EQ(world.out.str(),
            "2026-01-01 00:00:00Z  +0.0s  demo is InService\n"
            "2026-01-01 00:00:00Z  +0.0s  worker: 0/1 ready, 1 Booting\n"
            "2026-01-01 00:00:20Z  +20s  worker: 1/1 ready\n");
  const auto watches = world.transport.requests("Espalier.WatchEvents");
  ASSERT_EQ(watches.size(), 2u);
  EXPECT_EQ(watches[0].at("WaitSeconds"), 0) << "the first look does not wait";
  EXPECT_EQ(watches[1].at("AfterSequence"), 4);
}

TEST(Follow, ShowsNewTroublesOnly) {
  FakeWorld world;
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 3, "Events": [
    {"EventTime": 1767225000, "EventLevel": "Error", "Description": "an old one"},
    {"EventTime": 1767225600, "EventLevel": "Info", "Description": "a success"},
    {"EventTime": 1767225600, "EventLevel": "Error", "Description": "a failure", "FailureMessage": "no capacity"}]})");
  world.transport.answer("SageMaker.DescribeCluster", kCluster);
  world.transport.answer("Espalier.DescribeNodes", kReady);
  ASSERT_TRUE(follow(world.context, "demo", {}));
  EXPECT_THAT(world.out.str(), HasSubstr("a failure: no capacity"));
  EXPECT_THAT(world.out.str(), Not(HasSubstr("an old one")));
  EXPECT_THAT(world.out.str(), Not(HasSubstr("a success")));
}

TEST(Follow, RedrawsOnATerminalAndIsSilentForPrograms) {
  FakeWorld world;
  wait_in(world);
  world.transport.answer("SageMaker.DescribeCluster", kCluster);
  world.transport.answer("Espalier.DescribeNodes", kBooting);
  world.transport.answer("Espalier.DescribeNodes", kReady);
  world.context.terminal.live = true;
  ASSERT_TRUE(follow(world.context, "demo", {}));
  EXPECT_THAT(world.out.str(), HasSubstr("\033[3A\033[J"));
  EXPECT_EQ(world.transport.requests("Espalier.WatchEvents")[1].at("WaitSeconds"), 1) << "so that the time goes on";

  world.out.str("");
  world.context.json = true;
  ASSERT_TRUE(follow(world.context, "demo", {}));
  EXPECT_EQ(world.out.str(), "");
}

TEST(Follow, ADeletedClusterIsGone) {
  FakeWorld world;
  wait_in(world);
  world.transport.answer("SageMaker.DescribeCluster", kCluster);
  world.transport.answer("SageMaker.DescribeCluster", kNotThere, 400);
  world.transport.answer("Espalier.DescribeNodes", kReady);
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": []})");
  EXPECT_TRUE(follow(world.context, "demo", {Goal::kGone, {}}));
  const auto grown = follow(world.context, "demo", {Goal::kGrown, {}});
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().code, ErrorCode::kNotFound);
}

TEST(Follow, AFailedClusterIsAnError) {
  FakeWorld world;
  wait_in(world);
  world.transport.answer("SageMaker.DescribeCluster",
                         R"({"ClusterName": "demo", "ClusterStatus": "Failed", "FailureMessage": "no controller"})");
  world.transport.answer("Espalier.DescribeNodes", R"({"Nodes": []})");
  const auto result = follow(world.context, "demo", {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "Cluster 'demo' is Failed: no controller");
}

TEST(Follow, GivesUpAfterTheTimeout) {
  FakeWorld world;
  wait_in(world);
  world.transport.answer("SageMaker.DescribeCluster", kCluster);
  world.transport.answer("Espalier.DescribeNodes", kBooting);
  const auto result = follow(world.context, "demo", {Goal::kGrown, Millis(30'000)});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
  const auto watches = world.transport.requests("Espalier.WatchEvents");
  EXPECT_EQ(watches.back().at("WaitSeconds"), 10) << "not longer than the time that was left";
}

TEST(Follow, SitsOutARestartButNotAnEnd) {
  FakeWorld world;
  const auto refuse = [](const json::object&) { return fail(ErrorCode::kUnavailable, "no connection"); };
  world.transport.answer("Espalier.WatchEvents", refuse);
  world.transport.answer("Espalier.WatchEvents", refuse);
  world.transport.answer("Espalier.WatchEvents", kNothing);
  world.transport.answer("SageMaker.DescribeCluster", kCluster);
  world.transport.answer("Espalier.DescribeNodes", kReady);
  EXPECT_TRUE(follow(world.context, "demo", {}));

  FakeWorld dead;
  dead.transport.answer("Espalier.WatchEvents", refuse);
  const auto result = follow(dead.context, "demo", {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace espalier::cli
