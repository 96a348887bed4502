#include "api/api_fixture_test.h"
#include "api/show.h"

namespace espalier::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Nodes : public ApiTest {
 protected:
  void SetUp() override { state = &create_demo(); }
  json::array list(const std::string& members = "") {
    const auto out =
        good("ListClusterNodes", R"({"ClusterName": "demo")" + (members.empty() ? "" : ", " + members) + "}");
    return out.at("ClusterNodeSummaries").as_array();
  }
  ClusterState* state = nullptr;
};

TEST_F(Nodes, OnlyThoseWithAnInstanceByDefault) {
  EXPECT_TRUE(list().empty());
  clusters.launch(*state, "controller-1", SlotState::Configuring);
  const auto nodes = list();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(json::serialize(nodes[0]),
            R"({"InstanceGroupName":"controller","InstanceType":"ml.c5.xlarge","InstanceStatus":{"Status":"Pending"},)"
            R"("InstanceId":"i-00000000000000001","LaunchTime":1.76722560225E9,)"
            R"("PrivateDnsHostname":"ip-10-77-0-1.us-west-2.compute.internal"})");
}

TEST_F(Nodes, ThoseWithAnInstanceInEitherOrder) {
  for (const char* node : {"workers-3", "controller-1"}) clusters.launch(*state, node, SlotState::Booting);
  for (const char* by : {"CREATION_TIME", "NAME"}) {
    const auto query = fmt::format(R"("SortBy": "{}")", by);
    EXPECT_EQ(list(query).size(), 2u) << by;
    EXPECT_EQ(list(query + R"(, "InstanceGroupNameContains": "work")").size(), 1u) << by;
    EXPECT_EQ(list(query + R"(, "InstanceGroupNameContains": "work", "IncludeNodeLogicalIds": true)").size(), 3u) << by;
    EXPECT_TRUE(list(query + R"(, "InstanceGroupNameContains": "nobody")").empty()) << by;
    EXPECT_TRUE(list(query + R"(, "CreationTimeBefore": 1767225600)").empty()) << by;
  }
}

TEST_F(Nodes, AllWithLogicalIds) {
  clusters.launch(*state, "workers-2", SlotState::Ready);
  const auto nodes = list(R"("IncludeNodeLogicalIds": true, "SortBy": "NAME")");
  ASSERT_EQ(nodes.size(), 4u);
  for (const auto& node : nodes) EXPECT_TRUE(node.as_object().contains("NodeLogicalId"));
  EXPECT_FALSE(nodes[1].as_object().contains("InstanceId"));
  EXPECT_EQ(nodes[2].at("InstanceId"), "i-00000000000000001");
}

TEST_F(Nodes, FiltersAndPages) {
  EXPECT_EQ(list(R"("IncludeNodeLogicalIds": true, "InstanceGroupNameContains": "ork")").size(), 3u);
  EXPECT_TRUE(list(R"("IncludeNodeLogicalIds": true, "CreationTimeAfter": 1767225601)").empty());
  auto page = good("ListClusterNodes", R"({"ClusterName": "demo", "IncludeNodeLogicalIds": true, "MaxResults": 3})");
  EXPECT_EQ(page["ClusterNodeSummaries"].as_array().size(), 3u);
  EXPECT_EQ(list(R"("IncludeNodeLogicalIds": true, "NextToken": ")" + str(page["NextToken"]) + "\"").size(), 1u);
}

// Whatever comes and goes between two pages, each page goes on where the last one ended.
TEST_F(Nodes, PagesTogetherAreTheList) {
  for (const char* node : {"controller-1", "workers-1", "workers-2", "workers-3"})
    clusters.launch(*state, node, SlotState::Ready);
  for (const char* order : {"", R"(, "SortOrder": "Descending")", R"(, "SortBy": "NAME")",
                            R"(, "SortBy": "NAME", "SortOrder": "Descending")"}) {
    const std::string query = std::string(R"("InstanceGroupNameContains": "o")") + order;
    const auto whole = list(query);
    ASSERT_EQ(whole.size(), 4u);
    for (int size = 1; size <= 5; ++size) {
      json::array pages;
      std::string token;
      do {
        const auto more = token.empty() ? "" : R"(, "NextToken": ")" + token + "\"";
        auto page = good("ListClusterNodes",
                         fmt::format(R"({{"ClusterName": "demo", {}, "MaxResults": {}{}}})", query, size, more));
        for (auto& node : page["ClusterNodeSummaries"].as_array()) pages.push_back(node);
        token = page.contains("NextToken") ? str(page["NextToken"]) : "";
      } while (!token.empty() && pages.size() <= whole.size());
      EXPECT_EQ(pages, whole) << order << " " << size;
    }
  }
}

TEST_F(Nodes, APageGoesOnWhenItsLastNodeIsGone) {
  for (const char* node : {"workers-1", "workers-2", "workers-3"}) clusters.launch(*state, node, SlotState::Ready);
  for (const char* by : {"CREATION_TIME", "NAME"}) {
    const auto query = fmt::format(R"("SortBy": "{}")", by);
    auto page = good("ListClusterNodes", fmt::format(R"({{"ClusterName": "demo", {}, "MaxResults": 1}})", query));
    const auto token = str(page["NextToken"]);
    for (auto& [id, slot] : state->slots)
      if (slot.node_name == "workers-1") slot.state = SlotState::Gone;
    EXPECT_EQ(list(fmt::format(R"({}, "NextToken": "{}")", query, token)).size(), 2u) << by;
    for (auto& [id, slot] : state->slots)
      if (slot.node_name == "workers-1") slot.state = SlotState::Ready;
  }
}

TEST_F(Nodes, SortsNumbersAsNumbers) {
  for (int n = 4; n <= 11; ++n) {
    Slot slot;
    slot.id = SlotId(fmt::format("x-{}", n));
    slot.group = "workers";
    slot.number = n;
    slot.instance_type = "ml.p5.48xlarge";
    state->slots[slot.id] = slot;
  }
  const auto nodes = list(R"("IncludeNodeLogicalIds": true, "SortBy": "NAME", "SortOrder": "Descending")");
  EXPECT_EQ(nodes[0].at("NodeLogicalId"), "x-11");
  EXPECT_EQ(nodes[2].at("NodeLogicalId"), "x-9");
}

TEST_F(Nodes, Describe) {
  auto& slot = clusters.launch(*state, "workers-1", SlotState::Ready);
  slot.machine->position.domain = "us-1";
  for (const auto& body :
       {R"("NodeId": "i-00000000000000001")", R"("NodeLogicalId": "00000000-0000-4000-8000-000000000002")"}) {
    const auto out = good("DescribeClusterNode", fmt::format(R"({{"ClusterName": "demo", {}}})", body));
    const auto& node = out.at("NodeDetails").as_object();
    EXPECT_EQ(node.at("InstanceId"), "i-00000000000000001");
    EXPECT_EQ(str(node.at("NodeLogicalId")), slot.id.value);
    EXPECT_EQ(node.at("InstanceStatus").at("Status"), "Running");
    EXPECT_EQ(node.at("PrivatePrimaryIp"), "10.77.0.1");
    EXPECT_EQ(node.at("Placement").at("AvailabilityZone"), "us-west-2a");
    EXPECT_EQ(node.at("UltraServerInfo").at("Id"), "us-1");
    EXPECT_EQ(node.at("ThreadsPerCore"), 2);
  }
}

TEST_F(Nodes, DescribeNeedsOneId) {
  EXPECT_EQ(call("DescribeClusterNode", R"({"ClusterName": "demo"})").type(), "ValidationException");
  EXPECT_EQ(
      call("DescribeClusterNode", R"({"ClusterName": "demo", "NodeId": "i-01234567", "NodeLogicalId": "aa"})").type(),
      "ValidationException");
}

TEST_F(Nodes, DescribeUnknown) {
  const auto reply = call("DescribeClusterNode", R"({"ClusterName": "demo", "NodeId": "i-01234567"})");
  EXPECT_EQ(reply.type(), "ResourceNotFound");
  EXPECT_THAT(reply.message(), HasSubstr("i-01234567"));
}

TEST_F(Nodes, NoInterfaceCanBeAttached) {
  clusters.launch(*state, "workers-1", SlotState::Ready);
  const auto reply = call("AttachClusterNodeNetworkInterface",
                          R"({"ClusterName": "demo", "NodeId": "i-00000000000000001", "NetworkInterfaceId": "eni-1"})");
  EXPECT_EQ(reply.type(), "ValidationException");
  EXPECT_THAT(reply.message(), HasSubstr("no network interfaces"));
}

TEST(InstanceStatusOf, EveryState) {
  const std::pair<SlotState, InstanceStatus> table[] = {
      {SlotState::Wanted, InstanceStatus::Pending},
      {SlotState::Launching, InstanceStatus::Pending},
      {SlotState::Booting, InstanceStatus::Pending},
      {SlotState::Configuring, InstanceStatus::Pending},
      {SlotState::Joining, InstanceStatus::Pending},
      {SlotState::Ready, InstanceStatus::Running},
      {SlotState::Draining, InstanceStatus::Pending},
      {SlotState::Terminating, InstanceStatus::Pending},
      {SlotState::Backoff, InstanceStatus::Failure},
      {SlotState::Gone, InstanceStatus::NotFound},
      {SlotState::Checking, InstanceStatus::DeepHealthCheckInProgress}};
  for (const auto& [state, status] : table) {
    Slot slot;
    slot.state = state;
    EXPECT_EQ(instance_status(slot), status) << enum_name(state);
    slot.wanted = false;
    EXPECT_EQ(instance_status(slot), InstanceStatus::ShuttingDown) << enum_name(state);
  }
}

TEST_F(Nodes, MessageOfTheLastFailureStays) {
  auto& slot = clusters.launch(*state, "workers-1", SlotState::Backoff);
  slot.machine.reset();
  slot.failure_message = "no capacity";
  const auto status = [&] {
    return list(R"("IncludeNodeLogicalIds": true, "SortBy": "NAME")")[1].at("InstanceStatus").as_object();
  };
  EXPECT_EQ(status(), (json::object{{"Status", "Failure"}, {"Message", "no capacity"}}));
  slot.state = SlotState::Launching;
  EXPECT_EQ(status(), (json::object{{"Status", "Pending"}, {"Message", "no capacity"}}));
}

TEST_F(Nodes, DrainingSaysWhatItWaitsFor) {
  auto& slot = clusters.launch(*state, "workers-1", SlotState::Draining);
  slot.wanted = false;
  EXPECT_EQ(list()[0].at("InstanceStatus").at("Status"), "ShuttingDown");
  EXPECT_THAT(str(list()[0].at("InstanceStatus").at("Message")), HasSubstr("running jobs"));
}

}  // namespace
}  // namespace espalier::api
