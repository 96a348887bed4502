#include "api/api_fixture_test.h"

namespace espalier::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DeepHealthCheck : public ApiTest {
 protected:
  void SetUp() override { state = &create_demo(); }
  ClusterState* state = nullptr;
};

TEST_F(DeepHealthCheck, PassesOnWhatIsAsked) {
  const auto out = good("StartClusterHealthCheck", R"({"ClusterName": "demo", "DeepHealthCheckConfigurations": [
    {"InstanceGroupName": "workers", "DeepHealthChecks": ["InstanceStress", "InstanceConnectivity"]},
    {"InstanceGroupName": "more", "InstanceIds": ["i-00000000000000001"], "DeepHealthChecks": ["InstanceStress"]}]})");
  EXPECT_EQ(str(out.at("ClusterArn")), arn_of(state->cluster));
  ASSERT_EQ(clusters.checks.size(), 1u);
  const auto& groups = clusters.checks[0].groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].group, "workers");
  EXPECT_TRUE(groups[0].machines.empty());
  EXPECT_THAT(groups[0].kinds, ElementsAre(CheckKind::InstanceStress, CheckKind::InstanceConnectivity));
  EXPECT_THAT(groups[1].machines, ElementsAre(MachineId("i-00000000000000001")));
  EXPECT_THAT(groups[1].kinds, ElementsAre(CheckKind::InstanceStress));
}

TEST_F(DeepHealthCheck, RefusalsOfTheCoreAreAnswered) {
  clusters.check_answer = fail(ErrorCode::kConflict, "one at a time");
  const auto reply = call("StartClusterHealthCheck", R"({"ClusterName": "demo", "DeepHealthCheckConfigurations": [
    {"InstanceGroupName": "workers", "DeepHealthChecks": ["InstanceStress"]}]})");
  EXPECT_EQ(reply.type(), "ConflictException");
  EXPECT_THAT(reply.message(), HasSubstr("one at a time"));
}

TEST_F(DeepHealthCheck, NodesUnderCheckSaySo) {
  clusters.launch(*state, "workers-1", SlotState::Checking);
  const auto nodes = good("ListClusterNodes", R"({"ClusterName": "demo", "InstanceGroupNameContains": "workers"})");
  EXPECT_THAT(json::serialize(nodes), HasSubstr("DeepHealthCheckInProgress"));
  const auto groups = good("DescribeCluster", R"({"ClusterName": "demo"})").at("InstanceGroups").as_array();
  EXPECT_EQ(groups[1].as_object().at("CurrentCount"), 1);  // it is there, and comes back
}

}  // namespace
}  // namespace espalier::api
