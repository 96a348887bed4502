#include "cli/service.h"

#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "cli/fake_transport.h"
#include "cli/wire_error.h"

namespace espalier::cli {
namespace {

TEST(Service, SpeaksTheWire) {
  FakeWorld world;
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": []})");
  ASSERT_TRUE(world.service.call("SageMaker.ListClusters", {{"MaxResults", 5}}));
  ASSERT_EQ(world.transport.calls.size(), 1u);
  const auto& call = world.transport.calls[0];
  EXPECT_EQ(call.url, "http://control/");
  EXPECT_EQ(json::serialize(call.request), R"({"MaxResults":5})");
  EXPECT_EQ(call.headers.find("Content-Type")->second, "application/x-amz-json-1.1");
  const auto& authorization = call.headers.find("Authorization")->second;
  EXPECT_NE(authorization.find("Credential=espalier/20260101/eu-west-1/sagemaker/aws4_request,"), std::string::npos)
      << authorization;
}

TEST(Service, ErrorsOfTheWireBecomeExitCodes) {
  const struct {
    const char* type;
    int status;
    int code;
  } cases[] = {
      {"ValidationException", 400, kUsage},
      {"ResourceNotFound", 400, kNotFound},
      {"com.amazonaws.sagemaker#ResourceNotFound", 400, kNotFound},
      {"ResourceInUse", 400, kFailed},
      {"ResourceLimitExceeded", 400, kFailed},
      {"ConflictException", 400, kFailed},
      {"AccessDeniedException", 403, kFailed},
      {"ServiceUnavailable", 503, kNoConnection},
      {"InternalFailure", 500, kFailed},
      {"", 502, kFailed},
  };
  for (const auto& c : cases) EXPECT_EQ(exit_code(code_of_wire(c.type, c.status)), c.code) << c.type;
}

TEST(Service, KeepsTheControlPlanesWords) {
  EXPECT_EQ(wire_error("Op", {400, {}, R"({"__type":"ValidationException","Message":"change it"})"}).message,
            "change it");
  EXPECT_EQ(wire_error("Op", {400, {}, R"({"__type":"X","message":"lower case"})"}).message, "lower case");
  EXPECT_NE(wire_error("Op", {502, {}, "<html>"}).message.find("Op failed with HTTP status 502"), std::string::npos);
}

TEST(Service, WithoutConnectionSaysHowToGetOne) {
  FakeWorld world;
  world.transport.answer("X", [](const json::object&) { return fail(ErrorCode::kUnavailable, "no connection"); });
  const auto answer = world.service.call("X", {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(exit_code(answer.error().code), kNoConnection);
  EXPECT_NE(answer.error().message.find("espalier up"), std::string::npos);
}

TEST(Service, RefusesAnswersThatAreNoObject) {
  FakeWorld world;
  world.transport.answer("X", "hello");
  ASSERT_FALSE(world.service.call("X", {}));
  EXPECT_EQ(world.service.call("X", {}).error().code, ErrorCode::kInternal);
}

TEST(Service, SuggestsTheClusterThatMayHaveBeenMeant) {
  FakeWorld world;
  world.transport.answer("SageMaker.DescribeCluster", R"({"__type":"ResourceNotFound","Message":"no"})", 400);
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": [{"ClusterName": "demo"}]})");
  const auto wrong = world.service.on_cluster("SageMaker.DescribeCluster", "dmeo");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "There is no cluster 'dmeo' in eu-west-1. Did you mean 'demo'?");
  const auto other = world.service.on_cluster("SageMaker.DescribeCluster", "demo");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "no") << "the cluster exists: something else was not found";
}

TEST(Service, ListsAllPages) {
  FakeWorld world;
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": [{"ClusterName": "a"}], "NextToken": "t"})");
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": [{"ClusterName": "b"}]})");
  EXPECT_EQ(world.service.cluster_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(world.transport.requests("SageMaker.ListClusters")[1].at("NextToken"), "t");
}

}  // namespace
}  // namespace espalier::cli
