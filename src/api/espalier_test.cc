#include "api/api_fixture_test.h"

namespace espalier::api {
namespace {

using testing::HasSubstr;

class Own : public ApiTest {
 protected:
  void SetUp() override { state = &create_demo(); }
  json::object node(std::size_t index) {
    return good("Espalier.DescribeNodes", R"({"ClusterName": "demo"})").at("Nodes").as_array().at(index).as_object();
  }
  ClusterState* state = nullptr;
};

TEST_F(Own, NodesShowWhatHyperPodHides) {
  auto& slot = clusters.launch(*state, "workers-1", SlotState::Ready);
  slot.machine->position.network_nodes = {"nn-1", "nn-2", "nn-3"};
  slot.attempts = 2;
  slot.next_try = clusters.now;
  slot.failure_message = "no capacity";
  clusters.slurm_nodes["workers-1"] = {"workers-1", "idle", "10.77.0.1", ""};
  const auto out = node(1);
  EXPECT_EQ(out.at("NodeName"), "workers-1");
  EXPECT_EQ(out.at("NodeType"), "Compute");
  EXPECT_EQ(out.at("State"), "Ready");
  EXPECT_EQ(out.at("InstanceId"), "i-00000000000000001");
  EXPECT_EQ(out.at("Address"), "10.77.0.1");
  EXPECT_EQ(out.at("SlurmState"), "idle");
  EXPECT_EQ(out.at("Attempts"), 2);
  EXPECT_EQ(out.at("Message"), "no capacity");
  EXPECT_TRUE(out.contains("NextTry"));
  EXPECT_TRUE(out.contains("Leaf"));
}

TEST_F(Own, NodesAreInOrderAndTheControllerIsOnNoLeaf) {
  EXPECT_EQ(node(0).at("NodeName"), "controller-1");
  EXPECT_FALSE(node(0).contains("Leaf"));
  EXPECT_EQ(node(3).at("NodeName"), "workers-3");
  EXPECT_EQ(node(3).at("State"), "Wanted");
}

TEST_F(Own, TopologyCoversEverySlot) {
  const auto out = good("Espalier.DescribeTopology", R"({"ClusterName": "demo"})");
  EXPECT_EQ(out.at("Model"), "tree");
  EXPECT_EQ(out.at("True"), true);
  std::size_t nodes = 0;
  for (const auto& each : out.at("Switches").as_array()) nodes += each.at("Nodes").as_array().size();
  EXPECT_EQ(nodes, 3u);
  EXPECT_THAT(str(out.at("File")), HasSubstr("SwitchName="));
  EXPECT_FALSE(str(out.at("Drawing")).empty());
  EXPECT_NE(str(out.at("Because")), "");
}

TEST_F(Own, TopologySaysWhatIsPendingAndHowTheLastCame) {
  clusters.truth = {false, clusters.now, {"switch nn-1 is missing"}};
  state->slurm.revision = 2;
  state->slurm.live = true;
  const auto out = good("Espalier.DescribeTopology", R"({"ClusterName": "demo"})");
  EXPECT_EQ(out.at("True"), false);
  EXPECT_EQ(out.at("Pending").at(0), "switch nn-1 is missing");
  EXPECT_TRUE(out.contains("PendingSince"));
  EXPECT_EQ(out.at("Applied"), "Moves");
  EXPECT_EQ(out.at("Wish"), "auto");
  EXPECT_EQ(out.at("Partitions").at(0).at("Model"), "tree");
}

TEST_F(Own, TopologyIsSetAndKept) {
  EXPECT_EQ(good("Espalier.SetTopology", R"({"ClusterName": "demo", "Topology": "off"})").at("Topology"), "off");
  EXPECT_EQ(clusters.changes.at(0).topology, "off");
  const auto out = good("Espalier.DescribeTopology", R"({"ClusterName": "demo"})");
  EXPECT_EQ(out.at("Wish"), "off");
  EXPECT_EQ(out.at("Model"), "flat");
  EXPECT_EQ(call("Espalier.SetTopology", R"({"ClusterName": "demo", "Topology": "ring"})").type(),
            "ValidationException");
  state->cluster.status = ClusterStatus::Deleting;
  EXPECT_EQ(call("Espalier.SetTopology", R"({"ClusterName": "demo", "Topology": "auto"})").type(), "ConflictException");
}

TEST_F(Own, AJobThatWaitsIsExplainedByWhatItsNodesDo) {
  clusters.launch(*state, "workers-1", SlotState::Ready);
  clusters.slurm_nodes["workers-1"] = {"workers-1", "idle", "10.77.0.1", ""};
  clusters.launch(*state, "workers-2", SlotState::Ready);
  clusters.slurm_nodes["workers-2"] = {"workers-2", "drained", "10.77.0.2", "bad fan"};
  const auto partition = state->groups.at("workers").partition;
  clusters.jobs["7"] =
      "JobId=7 JobName=x UserId=u JobState=PENDING Reason=Resources Partition=" + partition + " NumNodes=2-2\n";
  const auto out = good("Espalier.ExplainJob", R"({"ClusterName": "demo", "JobId": "7"})");
  EXPECT_EQ(out.at("Because").at(0),
            "it needs 2 nodes: 1 are idle, 0 have jobs, 1 are still to come, 1 are out of use");
  EXPECT_EQ(out.at("Because").at(1), "workers-3: Wanted: no reason; next: nothing");
  EXPECT_EQ(out.at("Because").at(2), "workers-2: drained: bad fan");
  EXPECT_EQ(out.at("WouldRun").at(0), "-N1");
  EXPECT_EQ(call("Espalier.ExplainJob", R"({"ClusterName": "demo", "JobId": "8"})").type(), "ResourceNotFound");
  EXPECT_EQ(call("Espalier.ExplainJob", R"({"ClusterName": "demo", "JobId": "8; ls"})").type(), "ValidationException");
}

TEST_F(Own, AccessFindsTheMachine) {
  clusters.launch(*state, "workers-2", SlotState::Ready);
  auto with_folder = settings();
  with_folder.machine_folder = [](const MachineId& id) { return "/state/machines/" + id.value; };
  Api other(clusters, with_folder);
  for (const auto* by : {R"("NodeName": "workers-2")", R"("NodeId": "i-00000000000000001")"}) {
    json::object out;
    other.handle(request("Espalier.DescribeAccess", fmt::format(R"({{"ClusterName": "demo", {}}})", by)),
                 [&](const http::Response& r) { out = parse_json(r.body)->as_object(); });
    EXPECT_EQ(out.at("NodeName"), "workers-2");
    EXPECT_EQ(out.at("MachineFolder"), "/state/machines/i-00000000000000001");
  }
}

TEST_F(Own, AccessSaysWhyNot) {
  const auto access = [&](const char* members) {
    return call("Espalier.DescribeAccess", fmt::format(R"({{"ClusterName": "demo"{}}})", members));
  };
  EXPECT_EQ(access(R"(, "NodeName": "workers-1")").type(), "ConflictException");
  EXPECT_THAT(access(R"(, "NodeName": "workers-1")").message(), HasSubstr("Wanted"));
  EXPECT_EQ(access(R"(, "NodeName": "workers-9")").type(), "ResourceNotFound");
  EXPECT_EQ(access("").type(), "ValidationException");
}

class FakeCapacity final : public Capacity {
 public:
  std::map<std::string, PoolUse> pools;
  std::map<std::string, PoolUse> show() override { return pools; }
  Result<void> set(const std::string& type, const Pool& pool) override {
    if (type == "ml.nothing") return fail(ErrorCode::kInvalid, "there is no instance type '{}'", type);
    pools[type].pool = pool;
    return {};
  }
  void on_change(std::function<void()>) override {}
};

class CapacityApi : public ApiTest {
 protected:
  Reply capacity_call(const std::string& operation, const std::string& body) {
    Reply out;
    with_capacity.handle(request(operation, body),
                         [&](const http::Response& r) { out = {r.status, parse_json(r.body)->as_object(), {}}; });
    return out;
  }
  FakeCapacity capacity;
  Api with_capacity{clusters, settings(), &capacity};
};

TEST_F(CapacityApi, ShowsPools) {
  capacity.pools["ml.p5.48xlarge"] = {{6, Millis(250), 0.5, "Shortage"}, 4};
  const auto out = capacity_call("Espalier.DescribeCapacity", "{}");
  const auto& pool = out.body.at("Pools").at("ml.p5.48xlarge").as_object();
  EXPECT_EQ(pool, (json::object{{"InUse", 4},
                                {"LaunchTimeMillis", 250},
                                {"FailureRate", 0.5},
                                {"FailureClass", "Shortage"},
                                {"Machines", 6}}));
}

TEST_F(CapacityApi, ChangesWhatIsSaid) {
  capacity.pools["default"] = {{std::nullopt, Millis(100), 0, ""}, 0};
  capacity.pools["ml.c5.large"] = {{6, Millis(250), 0.5, "Shortage"}, 0};
  const auto out = capacity_call("Espalier.UpdateCapacity", R"({"Pools": {
      "ml.p5.48xlarge": {"Machines": 8}, "ml.c5.large": {"Machines": null, "FailureRate": 0}}})");
  EXPECT_EQ(out.status, 200);
  EXPECT_EQ(capacity.pools["ml.p5.48xlarge"].pool.machines, 8);
  EXPECT_EQ(capacity.pools["ml.p5.48xlarge"].pool.launch_time, Millis(100));
  EXPECT_EQ(capacity.pools["ml.c5.large"].pool.machines, std::nullopt);
  EXPECT_EQ(capacity.pools["ml.c5.large"].pool.failure_rate, 0);
  EXPECT_EQ(capacity.pools["ml.c5.large"].pool.failure_class, "Shortage");
}

TEST_F(CapacityApi, RefusesNonsense) {
  for (const auto* pools : {R"({"ml.nothing": {"Machines": 1}})", R"({"ml.c5.large": {"Machines": -1}})",
                            R"({"ml.c5.large": {"FailureRate": 1.5}})", R"({"ml.c5.large": {"FailureClass": "Bad"}})"})
    EXPECT_EQ(capacity_call("Espalier.UpdateCapacity", fmt::format(R"({{"Pools": {}}})", pools)).type(),
              "ValidationException")
        << pools;
}

TEST_F(CapacityApi, ProvidersWithoutAModelSaySo) {
  EXPECT_THAT(call("Espalier.DescribeCapacity").message(), HasSubstr("'local' has no capacity model"));
  EXPECT_EQ(call("Espalier.UpdateCapacity", R"({"Pools": {}})").type(), "ValidationException");
}

TEST_F(Own, ExplainsANodeByItsNameMachineOrSlot) {
  auto& slot = clusters.launch(*state, "workers-2", SlotState::Backoff);
  slot.conditions["Launched"] = {true, "the provider gave a machine", clusters.now};
  Event event;
  event.sequence = 1;
  event.group = slot.group;
  event.slot = slot.id;
  event.description = "Instance Creation started";
  event.metadata = {{"Instance", {{"FailureMessage", "no capacity"}}}};
  clusters.all_events[state->cluster.id] = {event};
  for (const auto& by :
       {fmt::format(R"("NodeName": "workers-2")"), fmt::format(R"("NodeId": "{}")", slot.machine->id.value),
        fmt::format(R"("NodeLogicalId": "{}")", slot.id.value)}) {
    const auto out = good("Espalier.ExplainNode", fmt::format(R"({{"ClusterName": "demo", {}}})", by));
    EXPECT_EQ(out.at("Node").at("NodeName"), "workers-2");
    EXPECT_EQ(out.at("Because"), "no reason");
    EXPECT_THAT(str(out.at("Places").at(0)), HasSubstr("tree: on leaf unplaced"));
    EXPECT_EQ(out.at("Conditions").at(0).at("Type"), "Launched");
    EXPECT_EQ(out.at("History").at(0).at("FailureMessage"), "no capacity");
    EXPECT_FALSE(out.contains("Health"));
  }
}

TEST_F(Own, ExplainingANodeTellsItsHealth) {
  const auto& machine = *clusters.launch(*state, "workers-2", SlotState::Checking).machine;
  auto& health = clusters.health[machine.id];
  health.view = {machine.id.value, clusters.now, 8, 0, {{"/", 5, 9}}};
  health.clock_ahead = Millis(-2500);
  health.daemons = {{"slurmd", false, "it was killed"}};
  const auto out = good("Espalier.ExplainNode", R"({"ClusterName": "demo", "NodeName": "workers-2"})").at("Health");
  EXPECT_EQ(out.at("Gpus"), 8);
  EXPECT_EQ(out.at("ClockAheadMillis"), -2500);
  EXPECT_EQ(out.at("Daemons").at(0).at("Message"), "it was killed");
  EXPECT_EQ(out.at("Disks").at(0).at("FreeBytes"), 5);
}

}  // namespace
}  // namespace espalier::api
