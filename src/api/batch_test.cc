#include "api/api_fixture_test.h"

namespace espalier::api {
namespace {

using reconcile::NodeAction;
using reconcile::NodeRefusal;
using testing::AllOf;
using testing::HasSubstr;

const SlotId kSlot("00000000-0000-4000-8000-000000000002");
const MachineId kMachine("i-0123456789abcdef0");

class Batch : public ApiTest {
 protected:
  void SetUp() override { create_demo(); }
  Reply batch(const std::string& operation, const std::string& members) {
    return call("Batch" + operation + "ClusterNodes", R"({"ClusterName": "demo", )" + members + "}");
  }
  static std::string ids(std::size_t count, const char* name = "NodeIds") {
    json::array list;
    for (std::size_t i = 0; i < count; ++i)
      list.push_back(json::string(fmt::format(fmt::runtime(name == std::string("NodeIds") ? "i-{:017x}" : "n-{}"), i)));
    return fmt::format(R"("{}": {})", name, json::serialize(list));
  }
};

TEST_F(Batch, AddPassesOnWhatIsAsked) {
  clusters.add_answer = reconcile::AddNodesAnswer{{{kSlot, "workers", InstanceStatus::Pending}}, {}};
  const auto reply = batch("Add", R"("ClientToken": "once", "NodesToAdd": [{"InstanceGroupName": "workers",
    "IncrementTargetCountBy": 1, "InstanceTypes": ["ml.p5.48xlarge"], "AvailabilityZones": ["us-west-2a"]}])");
  ASSERT_EQ(clusters.additions.size(), 1u);
  EXPECT_EQ(clusters.additions[0].client_token, "once");
  EXPECT_EQ(clusters.additions[0].additions,
            (std::vector<reconcile::NodeAddition>{{"workers", 1, {"ml.p5.48xlarge"}, {"us-west-2a"}}}));
  EXPECT_EQ(json::serialize(reply.body),
            R"({"Successful":[{"NodeLogicalId":"00000000-0000-4000-8000-000000000002","InstanceGroupName":"workers",)"
            R"("Status":"Pending"}],"Failed":[]})");
}

TEST_F(Batch, AddTellsOfEachGroup) {
  const reconcile::NodeAddition asked{"nobody", 2, {"ml.p5.48xlarge"}, {}};
  clusters.add_answer = reconcile::AddNodesAnswer{{}, {{asked, "InstanceGroupNotFound", "there is none"}}};
  const auto reply = batch("Add", R"("NodesToAdd": [{"InstanceGroupName": "nobody", "IncrementTargetCountBy": 2}])");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(json::serialize(reply.body.at("Failed")),
            R"([{"InstanceGroupName":"nobody","ErrorCode":"InstanceGroupNotFound","FailedCount":2,)"
            R"("Message":"there is none","InstanceTypes":["ml.p5.48xlarge"]}])");
}

TEST_F(Batch, AddHasFiftyNodesAtMost) {
  const auto add = [&](int first, int second) {
    return batch("Add", fmt::format(R"("NodesToAdd": [{{"InstanceGroupName": "workers", "IncrementTargetCountBy": {}}},
                                       {{"InstanceGroupName": "login", "IncrementTargetCountBy": {}}}])",
                                    first, second));
  };
  EXPECT_EQ(add(49, 1).status, 200);
  EXPECT_EQ(add(50, 1).type(), "ValidationException");
  EXPECT_THAT(add(50, 1).message(), HasSubstr("51 nodes"));
}

TEST_F(Batch, ErrorsOfTheWholeCall) {
  clusters.add_answer = fail(ErrorCode::kLimit, "too many");
  EXPECT_EQ(batch("Add", R"("NodesToAdd": [{"InstanceGroupName": "w", "IncrementTargetCountBy": 1}])").type(),
            "ResourceLimitExceeded");
  clusters.act_answer = fail(ErrorCode::kConflict, "being deleted");
  for (const auto* operation : {"Delete", "Replace", "Reboot"})
    EXPECT_EQ(batch(operation, ids(1)).type(), "ConflictException");
}

TEST_F(Batch, EachOperationHasItsOwnCodes) {
  const std::tuple<const char*, NodeAction, const char*, std::array<const char*, 3>> table[] = {
      {"Delete", NodeAction::Delete, "Code", {"NodeIdNotFound", "InvalidNodeStatus", "NodeIdInUse"}},
      {"Replace", NodeAction::Replace, "ErrorCode", {"InstanceIdNotFound", "InvalidInstanceStatus", "InstanceIdInUse"}},
      {"Reboot", NodeAction::Reboot, "ErrorCode", {"InstanceIdNotFound", "InvalidInstanceStatus", "InstanceIdInUse"}}};
  for (const auto& [operation, action, member, codes] : table) {
    for (const auto why : {NodeRefusal::NotFound, NodeRefusal::InvalidStatus, NodeRefusal::InUse}) {
      const auto* code = codes.at(static_cast<std::size_t>(why));
      clusters.act_answer = reconcile::ActOnNodesAnswer{{{kMachine, {}}, {{}, kSlot}},
                                                        {{{kMachine, {}}, why, "m"}, {{{}, kSlot}, why, "s"}}};
      const auto reply = batch(operation, ids(1));
      EXPECT_EQ(clusters.actions.back().action, action);
      EXPECT_EQ(reply.body.at("Successful"), json::array{kMachine.value});
      EXPECT_EQ(reply.body.at("SuccessfulNodeLogicalIds"), json::array{kSlot.value});
      EXPECT_EQ(reply.body.at("Failed"), (json::array{{{"NodeId", kMachine.value}, {member, code}, {"Message", "m"}}}));
      EXPECT_EQ(reply.body.at("FailedNodeLogicalIds"),
                (json::array{{{"NodeLogicalId", kSlot.value}, {member, code}, {"Message", "s"}}}));
    }
  }
}

TEST_F(Batch, NodesAreNamedByMachineOrBySlot) {
  batch("Replace", R"("NodeIds": ["i-0123456789abcdef0"], "NodeLogicalIds": ["00000000-0000-4000-8000-000000000002"])");
  ASSERT_EQ(clusters.actions.size(), 1u);
  const auto& nodes = clusters.actions[0].nodes;
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].machine, kMachine);
  EXPECT_TRUE(nodes[0].slot.empty());
  EXPECT_EQ(nodes[1].slot, kSlot);
}

TEST_F(Batch, DeletingNothingIsAnError) {
  clusters.act_answer = reconcile::ActOnNodesAnswer{{}, {{{kMachine, {}}, NodeRefusal::NotFound, "no such node"}}};
  const auto reply = batch("Delete", ids(1));
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.message(), AllOf(HasSubstr("NodeIdNotFound"), HasSubstr("no such node")));
  EXPECT_EQ(batch("Replace", ids(1)).status, 200);
}

TEST_F(Batch, SomeNodeMustBeNamed) {
  for (const auto* operation : {"Delete", "Replace", "Reboot"})
    EXPECT_THAT(batch(operation, R"("NodeIds": null)").message(), HasSubstr("Pass NodeIds, NodeLogicalIds or both"));
}

TEST_F(Batch, DocumentedLimits) {
  clusters.act_answer = reconcile::ActOnNodesAnswer{{{kMachine, {}}}, {}};
  EXPECT_EQ(batch("Delete", ids(99)).status, 200);
  EXPECT_THAT(batch("Delete", ids(100)).message(), HasSubstr("at most 99"));
  EXPECT_EQ(batch("Delete", ids(49) + ", " + ids(1, "NodeLogicalIds")).status, 200);
  EXPECT_THAT(batch("Delete", ids(50) + ", " + ids(1, "NodeLogicalIds")).message(), HasSubstr("at most 50"));
  for (const auto* operation : {"Replace", "Reboot"}) {
    EXPECT_EQ(batch(operation, ids(24) + ", " + ids(1, "NodeLogicalIds")).status, 200);
    EXPECT_THAT(batch(operation, ids(25) + ", " + ids(1, "NodeLogicalIds")).message(), HasSubstr("at most 25"));
  }
}

}  // namespace
}  // namespace espalier::api
