// What every operation has in common: targets, bodies, errors, regions.
#include "api/api_fixture_test.h"
#include "api/operations.h"

namespace espalier::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Wire = ApiTest;

TEST_F(Wire, AnswersAreAwsJson) {
  const auto reply = call("ListClusters");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(http::header(reply.headers, "content-type"), "application/x-amz-json-1.1");
  EXPECT_EQ(http::header(reply.headers, "x-amzn-requestid").size(), 36u);
  EXPECT_NE(http::header(reply.headers, "x-amzn-requestid"),
            http::header(call("ListClusters").headers, "x-amzn-requestid"));
}

TEST_F(Wire, EmptyBodyIsNoInput) { EXPECT_EQ(call("ListClusters", "").status, 200); }

TEST_F(Wire, BrokenJson) {
  for (const auto* body : {"{", "{]", "nonsense", "[]", "3", "{} {}"}) {
    const auto reply = call("ListClusters", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_EQ(reply.type(), "MalformedHttpRequestException") << body;
  }
}

TEST_F(Wire, DeepJsonIsRefused) {
  EXPECT_EQ(call("ListClusters", R"({"A":)" + std::string(100'000, '[')).type(), "MalformedHttpRequestException");
}

TEST_F(Wire, UnknownOperations) {
  for (const auto* target : {"SageMaker.CreateDoughnut", "CreateCluster", "Other.CreateCluster", ""}) {
    auto sent = request(target, "{}");
    const auto reply = send(std::move(sent)).value();
    EXPECT_EQ(reply.status, 404) << target;
    EXPECT_EQ(reply.type(), "UnknownOperationException") << target;
  }
}

TEST_F(Wire, AllOperationsForSlurmAreServed) {
  for (const auto& target : all_targets())
    EXPECT_NE(find_operation(target) != nullptr, operation_model(target)->eks) << target;
}

TEST_F(Wire, OperationsForEksSaySo) {
  for (const auto* operation : {"AttachClusterNodeVolume", "CreateComputeQuota", "ListClusterSchedulerConfigs"}) {
    const auto reply = call(operation);
    EXPECT_EQ(reply.status, 400) << operation;
    EXPECT_EQ(reply.type(), "ValidationException") << operation;
    EXPECT_THAT(reply.message(), AllOf(HasSubstr(operation), HasSubstr("Orchestrator.Eks"))) << operation;
  }
}

TEST_F(Wire, OtherMethodsAreNoOperation) {
  http::Request get{"GET", "/", {}, "", ""};
  EXPECT_EQ(send(get)->status, 404);
}

TEST_F(Wire, EveryTargetIsServedOrRefusedAsUnserved) {
  for (const auto& target : all_targets()) {
    const auto reply = send(request(target, "{}"));
    ASSERT_TRUE(reply) << target;
    EXPECT_THAT((std::vector{200, 400, 404}), testing::Contains(reply->status)) << target;
  }
}

TEST_F(Wire, RegionOfTheSignatureStandsInTheArn) {
  region = "eu-north-1";
  EXPECT_EQ(good("CreateCluster", kDemo)["ClusterArn"],
            "arn:aws:sagemaker:eu-north-1:123456789012:cluster/000000000001");
  region = "";
  EXPECT_EQ(good("CreateCluster", kDemo)["ClusterArn"],
            "arn:aws:sagemaker:us-west-2:123456789012:cluster/000000000002");
  EXPECT_EQ(good("ListClusters")["ClusterSummaries"].as_array().size(), 1u);
}

TEST_F(Wire, RegionMustFitAnArn) {
  region = "Not a region";
  EXPECT_EQ(call("ListClusters").status, 200);  // the scope ends at the blank: no region
  region = "US:west";
  EXPECT_EQ(call("ListClusters").type(), "ValidationException");
}

TEST_F(Wire, SignatureWithoutScopeIsUnsigned) {
  for (const auto* header : {"Bearer x", "AWS4-HMAC-SHA256 Credential=", "AWS4-HMAC-SHA256 Credential=AKID"}) {
    auto sent = request("SageMaker.CreateCluster", kDemo);
    sent.headers.emplace("Authorization", header);
    clusters.states.clear();
    EXPECT_THAT(str(send(std::move(sent))->body.at("ClusterArn")), HasSubstr(":us-west-2:"));
  }
}

TEST_F(Wire, DescribeService) {
  const auto out = good("Espalier.DescribeService");
  EXPECT_EQ(out.at("Version"), "0.1.0");
  EXPECT_EQ(out.at("Provider"), "local");
  EXPECT_GT(out.at("ProcessId").as_int64(), 0);
}

}  // namespace
}  // namespace espalier::api
