#include "api/api_fixture_test.h"

namespace espalier::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Events : public ApiTest {
 protected:
  void SetUp() override {
    create_demo();
    id = clusters.states.begin()->first;
    for (int i = 1; i <= 5; ++i) clusters.add_event(id, fmt::format("event {}", i));
    auto& failed = clusters.all_events[id][2];
    failed.resource = ResourceType::Instance;
    failed.level = EventLevel::Error;
    failed.group = "workers";
    failed.instance = MachineId("i-00000000000000001");
    failed.slot = SlotId("00000000-0000-4000-8000-000000000002");
    failed.metadata = {{"Instance", {{"FailureMessage", "no capacity"}}}};
  }
  static std::vector<std::string> descriptions(const json::object& out) {
    std::vector<std::string> got;
    for (const auto& event : out.at("Events").as_array()) got.push_back(str(event.at("Description")));
    return got;
  }
  std::vector<std::string> list(const std::string& members) {
    return descriptions(good("ListClusterEvents", R"({"ClusterName": "demo", )" + members + "}"));
  }
  ClusterId id;
};

TEST_F(Events, NewestFirst) {
  const auto out = good("ListClusterEvents", R"({"ClusterName": "demo"})");
  EXPECT_THAT(descriptions(out), ElementsAre("event 5", "event 4", "event 3", "event 2", "event 1"));
  EXPECT_FALSE(out.contains("NextToken"));
}

TEST_F(Events, FiltersAndOrder) {
  EXPECT_THAT(list(R"("ResourceType": "Instance")"), ElementsAre("event 3"));
  EXPECT_THAT(list(R"("InstanceGroupName": "workers")"), ElementsAre("event 3"));
  EXPECT_THAT(list(R"("NodeId": "i-00000000000000001")"), ElementsAre("event 3"));
  EXPECT_THAT(list(R"("SortOrder": "Ascending", "EventTimeAfter": 1767225604.25)"), ElementsAre("event 4", "event 5"));
  EXPECT_THAT(list(R"("EventTimeBefore": 1767225603)"), ElementsAre("event 1"));
}

TEST_F(Events, PagesInBothOrders) {
  for (const auto& [order, expected] : {std::pair("Ascending", "12345"), std::pair("Descending", "54321")}) {
    std::string got;
    std::string token;
    do {
      auto page = good("ListClusterEvents",
                       fmt::format(R"({{"ClusterName": "demo", "MaxResults": 2, "SortOrder": "{}"{}}})", order, token));
      for (const auto& text : descriptions(page)) got += text.back();
      token = page.contains("NextToken") ? fmt::format(R"(, "NextToken": "{}")", str(page["NextToken"])) : "";
    } while (!token.empty());
    EXPECT_EQ(got, expected);
  }
  EXPECT_EQ(call("ListClusterEvents", R"({"ClusterName": "demo", "NextToken": "abc"})").type(), "ValidationException");
}

TEST_F(Events, DescribeHasTheDetails) {
  const auto event_id = clusters.all_events[id][2].id;
  const auto out = good("DescribeClusterEvent", fmt::format(R"({{"ClusterName": "demo", "EventId": "{}"}})", event_id));
  const auto& event = out.at("EventDetails").as_object();
  EXPECT_EQ(str(event.at("EventId")), event_id);
  EXPECT_EQ(event.at("EventLevel"), "Error");
  EXPECT_EQ(event.at("InstanceGroupName"), "workers");
  EXPECT_EQ(event.at("EventDetails").at("EventMetadata").at("Instance").at("FailureMessage"), "no capacity");
  const auto unknown =
      call("DescribeClusterEvent", R"({"ClusterName": "demo", "EventId": "99999999-0000-4000-8000-000000000000"})");
  EXPECT_EQ(unknown.type(), "ResourceNotFound");
}

TEST_F(Events, WatchGivesWhatThereIs) {
  const auto out = good("Espalier.WatchEvents", R"({"ClusterName": "demo", "AfterSequence": 2, "WaitSeconds": 25})");
  EXPECT_THAT(descriptions(out), ElementsAre("event 3", "event 4", "event 5"));
  EXPECT_EQ(out.at("LastSequence"), 5);
  const auto& first = out.at("Events").as_array()[0].as_object();
  EXPECT_EQ(first.at("Sequence"), 3);
  EXPECT_EQ(first.at("FailureMessage"), "no capacity");
  EXPECT_EQ(first.at("NodeLogicalId"), "00000000-0000-4000-8000-000000000002");
}

TEST_F(Events, WatchDoesNotWaitUnasked) {
  const auto out = good("Espalier.WatchEvents", R"({"ClusterName": "demo", "AfterSequence": 5})");
  EXPECT_TRUE(descriptions(out).empty());
  EXPECT_EQ(out.at("LastSequence"), 5);
}

class Watch : public Events {
 protected:
  void SetUp() override {
    Events::SetUp();
    auto sent = request("Espalier.WatchEvents", R"({"ClusterName": "demo", "AfterSequence": 5, "WaitSeconds": 25})");
    api.handle(std::move(sent), [this](const http::Response& response) {
      got = Reply{response.status, parse_json(response.body).value().as_object(), {}};
    });
  }
  std::optional<Reply> got;
};

TEST_F(Watch, WaitsForTheNext) {
  ASSERT_FALSE(got);
  clusters.add_event(id, "event 6");
  clusters.waiting();
  ASSERT_TRUE(got);
  EXPECT_THAT(descriptions(got->body), ElementsAre("event 6"));
  EXPECT_EQ(got->body.at("LastSequence"), 6);
}

TEST_F(Watch, ComesBackEmptyAfterTheWait) {
  clusters.waiting();
  EXPECT_TRUE(descriptions(got->body).empty());
  EXPECT_EQ(got->body.at("LastSequence"), 5);
}

TEST_F(Watch, EndsWithTheCluster) {
  clusters.states.clear();
  clusters.waiting();
  EXPECT_EQ(got->type(), "ResourceNotFound");
}

TEST_F(Events, AreOfContinuousClustersOnly) {
  clusters.states.at(id).cluster.continuous = false;
  const auto reply = call("ListClusterEvents", R"({"ClusterName": "demo"})");
  EXPECT_EQ(reply.type(), "ValidationException");
  EXPECT_THAT(reply.message(), testing::HasSubstr("NodeProvisioningMode=Continuous"));
}

}  // namespace
}  // namespace espalier::api
