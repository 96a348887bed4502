#include "api/api_fixture_test.h"

namespace espalier::api {
namespace {

using testing::HasSubstr;

class Software : public ApiTest {
 protected:
  void SetUp() override { state = &create_demo(); }
  json::object workers() {
    return good("DescribeCluster", R"({"ClusterName": "demo"})").at("InstanceGroups").as_array()[1].as_object();
  }
  ClusterState* state = nullptr;
};

TEST_F(Software, PassesOnWhatIsAsked) {
  const auto out = good("UpdateClusterSoftware", R"({"ClusterName": "demo", "ImageId": "ami-0123456789abcdef0",
    "InstanceGroups": [{"InstanceGroupName": "workers"}], "DeploymentConfig": {"WaitIntervalInSeconds": 60,
    "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2},
                            "RollbackMaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 50}}}})");
  EXPECT_EQ(str(out.at("ClusterArn")), arn_of(state->cluster));
  ASSERT_EQ(clusters.software_updates.size(), 1u);
  const auto& asked = clusters.software_updates[0];
  EXPECT_EQ(asked.image, "ami-0123456789abcdef0");
  EXPECT_EQ(asked.groups, std::vector<std::string>{"workers"});
  EXPECT_EQ(asked.wait, Millis(60'000));
  EXPECT_EQ(asked.batch->value, 2);
  EXPECT_FALSE(asked.batch->percent);
  EXPECT_EQ(asked.rollback_batch->value, 50);
  EXPECT_TRUE(asked.rollback_batch->percent);
}

TEST_F(Software, EverythingToTheNewestByDefault) {
  good("UpdateClusterSoftware", R"({"ClusterName": "demo"})");
  const auto& asked = clusters.software_updates.at(0);
  EXPECT_TRUE(asked.groups.empty() && asked.image.empty() && !asked.batch && asked.wait == Millis(0));
}

TEST_F(Software, AlarmsAreNotServed) {
  const auto reply = call("UpdateClusterSoftware", R"({"ClusterName": "demo", "DeploymentConfig": {
    "AutoRollbackConfiguration": [{"AlarmName": "a"}]}})");
  EXPECT_THAT(reply.message(), HasSubstr("'deploymentConfig.autoRollbackConfiguration'"));
}

TEST_F(Software, GroupsShowHowFarItIs) {
  EXPECT_FALSE(workers().contains("SoftwareUpdateStatus"));
  auto& group = state->groups["workers"];
  group.image = "ami-22222222";
  auto& update = group.update.emplace();
  update.status = SoftwareUpdateStatus::InProgress;
  update.image = group.image;
  update.image_before = "ami-11111111";
  update.batch_size = 2;
  update.wait = Millis(5000);
  clusters.launch(*state, "workers-1", SlotState::Ready).machine->image = "ami-22222222";
  clusters.launch(*state, "workers-2", SlotState::Ready).machine->image = "ami-11111111";
  auto shown = workers();
  EXPECT_EQ(shown["SoftwareUpdateStatus"], "InProgress");
  EXPECT_EQ(shown["CurrentImageId"], "ami-11111111");
  EXPECT_EQ(shown["DesiredImageId"], "ami-22222222");
  EXPECT_EQ(shown["TargetStateCount"], 1);
  EXPECT_EQ(json::serialize(shown["ActiveSoftwareUpdateConfig"]),
            R"({"RollingUpdatePolicy":{"MaximumBatchSize":{"Type":"INSTANCE_COUNT","Value":2},)"
            R"("RollbackMaximumBatchSize":{"Type":"INSTANCE_COUNT","Value":1}},"WaitIntervalInSeconds":5})");
  update.status = SoftwareUpdateStatus::Succeeded;
  shown = workers();
  EXPECT_EQ(shown["CurrentImageId"], "ami-22222222");
  EXPECT_FALSE(shown.contains("ActiveSoftwareUpdateConfig"));
}

TEST_F(Software, NodesShowTheirImage) {
  clusters.launch(*state, "workers-1", SlotState::Ready).machine->image = "ami-11111111";
  const auto out = good("DescribeClusterNode", R"({"ClusterName": "demo", "NodeId": "i-00000000000000001"})");
  EXPECT_EQ(out.at("NodeDetails").at("CurrentImageId"), "ami-11111111");
}

TEST_F(Software, ReleasesAreComparedWithTheNewest) {
  auto& first = *clusters.launch(*state, "workers-1", SlotState::Ready).machine;
  auto& second = *clusters.launch(*state, "workers-2", SlotState::Ready).machine;
  const auto listed = [&] { return good("ListClusters", "{}").at("ClusterSummaries").at(0).as_object(); };
  EXPECT_FALSE(workers().contains("ImageVersionStatus")) << "the provider has no releases";
  EXPECT_FALSE(listed().contains("ImageVersionStatus"));
  first.image = second.image = "ami-22222222";
  EXPECT_EQ(workers()["ImageVersionStatus"], "UpToDate");
  EXPECT_EQ(listed()["ImageVersionStatus"], "UpToDate");
  second.image = "ami-11111111";
  EXPECT_EQ(workers()["ImageVersionStatus"], "UpdateAvailable");
  EXPECT_EQ(listed()["ImageVersionStatus"], "UpdateAvailable");
  const auto node = [&](const Machine& machine) {
    return good("DescribeClusterNode", fmt::format(R"({{"ClusterName": "demo", "NodeId": "{}"}})", machine.id.value))
        .at("NodeDetails")
        .as_object();
  };
  EXPECT_EQ(node(first).at("ImageVersionStatus"), "UpToDate");
  EXPECT_EQ(node(second).at("ImageVersionStatus"), "UpdateAvailable");
  EXPECT_EQ(node(second).at("LastSoftwareUpdateTime"), node(second).at("LaunchTime"));
}

}  // namespace
}  // namespace espalier::api
