// The commands against a control plane with memory: what they ask for, what they print.
#include "cli/actions.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "cli/fake_transport.h"

namespace espalier::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CreateCluster, SendsTheRequestAndDoesNotWaitWithoutATerminal) {
  FakeWorld world;
  world.transport.answer("SageMaker.CreateCluster", R"({"ClusterArn": "arn"})");
  ASSERT_TRUE(create_cluster(world.context, {"demo", {*parse_group("name=w,type=t")}, {}, "", {}}));
  const auto requests = world.transport.requests("SageMaker.CreateCluster");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].at("InstanceGroups").get_array().size(), 3u);
  EXPECT_EQ(world.out.str(), "Cluster 'demo' is accepted and grows.\n");
}

TEST(CreateCluster, PrintsTheAnswerForPrograms) {
  FakeWorld world;
  world.context.json = true;
  world.transport.answer("SageMaker.CreateCluster", R"({"ClusterArn": "arn"})");
  ASSERT_TRUE(create_cluster(world.context, {"demo", {*parse_group("name=w,type=t")}, {}, "", {}}));
  EXPECT_EQ(*parse_json(world.out.str()), *parse_json(R"({"ClusterArn": "arn"})"));
}

TEST(CreateCluster, TakesARequestFromAFileAndAnotherNameForIt) {
  FakeWorld world;
  world.transport.answer("SageMaker.CreateCluster", R"({"ClusterArn": "arn"})");
  const std::string file = testing::TempDir() + "cli-create-request.json";
  ASSERT_TRUE(write_file(file, R"({"ClusterName": "theirs", "Tags": []})"));
  CreateOptions options;
  options.from = file;
  ASSERT_TRUE(create_cluster(world.context, options));
  options.cluster = "mine";
  ASSERT_TRUE(create_cluster(world.context, options));
  std::filesystem::remove(file);
  const auto requests = world.transport.requests("SageMaker.CreateCluster");
  EXPECT_EQ(json::serialize(requests.at(0)), R"({"ClusterName":"theirs","Tags":[]})");
  EXPECT_EQ(requests.at(1).at("ClusterName"), "mine");
}

TEST(CreateCluster, RefusesWhatCannotBeMeant) {
  FakeWorld world;
  EXPECT_EQ(create_cluster(world.context, {"demo", {}, {}, "", {}}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(create_cluster(world.context, {"", {*parse_group("name=w,type=t")}, {}, "", {}}).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(create_cluster(world.context, {"demo", {}, {}, "/nonexistent/request.json", {}}).error().code,
            ErrorCode::kInvalid);
  EXPECT_TRUE(world.transport.calls.empty()) << "nothing was asked for";
}

TEST(ScaleCluster, ResendsTheWholeGroup) {
  FakeWorld world;
  world.transport.answer("SageMaker.DescribeCluster", R"({"InstanceGroups": [
    {"InstanceGroupName": "w", "InstanceType": "t", "ExecutionRole": "r", "TargetCount": 2, "CurrentCount": 2},
    {"InstanceGroupName": "x", "InstanceType": "t", "ExecutionRole": "r", "TargetCount": 2, "CurrentCount": 2}]})");
  world.transport.answer("SageMaker.UpdateCluster", R"({"ClusterArn": "arn"})");
  ASSERT_TRUE(scale_cluster(world.context, "demo", {{"w", 16}}, {}));
  EXPECT_EQ(json::value(world.transport.requests("SageMaker.UpdateCluster").at(0)), *parse_json(R"({
    "ClusterName": "demo", "InstanceGroups": [
      {"InstanceGroupName": "w", "InstanceType": "t", "ExecutionRole": "r", "InstanceCount": 16}]})"));
}

constexpr const char* kOneGroup = R"({"ClusterName": "demo", "ClusterStatus": "InService", "InstanceGroups": [
  {"InstanceGroupName": "w", "InstanceType": "t", "Status": "InService", "TargetCount": 1, "CurrentCount": 1}]})";

TEST(AddGroups, SendsTheNewOnesOnly) {
  FakeWorld world;
  world.transport.answer("SageMaker.DescribeCluster", kOneGroup);
  world.transport.answer("SageMaker.UpdateCluster", R"({"ClusterArn": "arn"})");
  const auto group = *parse_group("name=x,type=t,count=2,partition=gpu");
  ASSERT_TRUE(add_groups(world.context, "demo", {group}, {}));
  EXPECT_EQ(json::value(world.transport.requests("SageMaker.UpdateCluster").at(0)),
            json::value(json::object{{"ClusterName", "demo"}, {"InstanceGroups", json::array{group_spec(group)}}}));
  EXPECT_EQ(world.out.str(), "Cluster 'demo' grows 'x'.\n");
}

TEST(AddGroups, ChangesNoneThatIsThere) {
  FakeWorld world;
  world.transport.answer("SageMaker.DescribeCluster", kOneGroup);
  EXPECT_EQ(add_groups(world.context, "demo", {*parse_group("name=w,type=other")}, {}).error().code,
            ErrorCode::kExists);
  EXPECT_TRUE(world.transport.requests("SageMaker.UpdateCluster").empty());
}

TEST(DeleteGroup, WaitsUntilItsMachinesAreGone) {
  FakeWorld world;
  world.transport.answer("SageMaker.DescribeCluster", kOneGroup);
  world.transport.answer("SageMaker.DescribeCluster", R"({"ClusterName": "demo", "ClusterStatus": "InService",
    "InstanceGroups": [{"InstanceGroupName": "w", "Status": "Deleting", "TargetCount": 1}]})");
  world.transport.answer("SageMaker.DescribeCluster", R"({"ClusterName": "demo", "ClusterStatus": "InService"})");
  world.transport.answer("SageMaker.UpdateCluster", R"({"ClusterArn": "arn"})");
  world.transport.answer("Espalier.WatchEvents", R"({"Events": [], "LastSequence": 4})");
  world.transport.answer("Espalier.DescribeNodes", R"({"Nodes": [{"InstanceGroupName": "w", "State": "Ready"}]})");
  world.transport.answer("Espalier.DescribeNodes", R"({"Nodes": []})");
  ASSERT_TRUE(delete_group(world.context, "demo", "w", {true, {}}));
  EXPECT_EQ(json::serialize(world.transport.requests("SageMaker.UpdateCluster").at(0)),
            R"({"InstanceGroupsToDelete":["w"],"ClusterName":"demo"})");
  EXPECT_THAT(world.out.str(), HasSubstr("w: 1/0 ready\n"));
  EXPECT_THAT(world.out.str(), HasSubstr("w: gone\n"));
}

TEST(DeleteGroup, NamesTheGroupsThereAre) {
  FakeWorld world;
  world.transport.answer("SageMaker.DescribeCluster", kOneGroup);
  const auto result = delete_group(world.context, "demo", "nobody", {});
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(result.error().message, "The cluster has no group 'nobody'. There are: w.");
}

TEST(DeleteCluster, WaitsWhenToldTo) {
  FakeWorld world;
  world.transport.answer("SageMaker.DeleteCluster", R"({"ClusterArn": "arn"})");
  world.transport.answer("Espalier.WatchEvents", R"({"__type": "ResourceNotFound"})", 400);
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": []})");
  ASSERT_TRUE(delete_cluster(world.context, "demo", {true, {}}));
  EXPECT_EQ(world.out.str(), "Cluster 'demo' is being deleted.\nCluster 'demo' is gone after 0.0s.\n");
}

TEST(ListClusters, IsATable) {
  FakeWorld world;
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": [{"ClusterName": "demo",
    "ClusterStatus": "InService", "CreationTime": 1767323045.5, "ClusterArn": "arn:x"}]})");
  ASSERT_TRUE(list_clusters(world.context));
  EXPECT_EQ(world.out.str(),
            "CLUSTER  STATUS     CREATED               ARN\n"
            "demo     InService  2026-01-02 03:04:05Z  arn:x\n");
}

TEST(DescribeCluster, ShowsGroups) {
  FakeWorld world;
  world.transport.answer("SageMaker.DescribeCluster", R"({"ClusterName": "demo", "ClusterStatus": "Failed",
    "FailureMessage": "no controller", "InstanceGroups": [{"InstanceGroupName": "w", "InstanceType": "t",
    "CurrentCount": 6, "TargetCount": 8, "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]}}]})");
  ASSERT_TRUE(describe_cluster(world.context, "demo"));
  EXPECT_THAT(world.out.str(), HasSubstr("no controller"));
  EXPECT_THAT(world.out.str(), HasSubstr("w      6/8    t     Compute  gpu\n"));
}

TEST(Nodes, OfOneGroup) {
  FakeWorld world;
  world.transport.answer("Espalier.DescribeNodes", R"({"Nodes": [
    {"NodeName": "w-1", "InstanceGroupName": "w", "State": "Backoff", "Since": 1767225590, "Message": "no capacity",
     "Attempts": 3, "NextTry": 1767225604},
    {"NodeName": "x-1", "InstanceGroupName": "x", "State": "Ready"}]})");
  ASSERT_TRUE(show_nodes(world.context, "demo", "w"));
  EXPECT_EQ(world.out.str(),
            "NODE  STATE    SINCE  WHY\n"
            "w-1   Backoff  10s    no capacity (failed tries: 3, next in 4.0s)\n");
}

TEST(Nodes, OfAGroupThatIsNotThere) {
  FakeWorld world;
  world.transport.answer("Espalier.DescribeNodes", R"({"Nodes": []})");
  world.transport.answer("SageMaker.DescribeCluster", kOneGroup);
  EXPECT_TRUE(show_nodes(world.context, "demo", "w")) << "a group may have no nodes";
  const auto result = show_nodes(world.context, "demo", "nobody");
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error().message, HasSubstr("There are: w."));
}

TEST(Events, OfAGroupThatIsNotThere) {
  FakeWorld world;
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 0, "Events": []})");
  world.transport.answer("SageMaker.DescribeCluster", kOneGroup);
  EventOptions options;
  options.cluster = "demo";
  options.group = "w";
  EXPECT_TRUE(show_events(world.context, options)) << "nothing happened to it yet";
  options.group = "nobody";
  EXPECT_EQ(show_events(world.context, options).error().code, ErrorCode::kNotFound);
}

TEST(Events, OfAGroupThatIsGoneAreStillShown) {
  FakeWorld world;
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 1, "Events": [
    {"EventTime": 1767225600, "EventLevel": "Info", "Description": "one", "InstanceGroupName": "x"}]})");
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 1, "Events": []})");
  EventOptions options;
  options.cluster = "demo";
  options.group = "x";
  EXPECT_TRUE(show_events(world.context, options));
  EXPECT_TRUE(world.transport.requests("SageMaker.DescribeCluster").empty());
}

TEST(Events, FollowSitsOutARestartButNotAnEnd) {
  const auto refuse = [](const json::object&) { return fail(ErrorCode::kUnavailable, "no connection"); };
  EventOptions options;
  options.cluster = "demo";
  options.follow = true;
  FakeWorld world;
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 7, "Events": []})");
  world.transport.answer("Espalier.WatchEvents", refuse);
  world.transport.answer("Espalier.WatchEvents", refuse);
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 8, "Events": [{"Description": "after"}]})");
  world.transport.answer("Espalier.WatchEvents", refuse);  // for ever
  const Time start = world.clock.now();
  const auto result = show_events(world.context, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(world.out.str(), HasSubstr("after"));
  EXPECT_EQ(world.transport.requests("Espalier.WatchEvents").at(3).at("AfterSequence"), 7);
  EXPECT_GT(world.clock.now() - start, Millis(60'000));

  FakeWorld dead;
  dead.transport.answer("Espalier.WatchEvents", refuse);
  EXPECT_FALSE(show_events(dead.context, options));
  EXPECT_EQ(dead.transport.calls.size(), 1u) << "who never answered is not starting anew";
}

TEST(Events, AreReadToTheEndAndFiltered) {
  FakeWorld world;
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 2, "Events": [
    {"EventTime": 1767225600, "EventLevel": "Info", "Description": "one"},
    {"EventTime": 1767225600, "EventLevel": "Warn", "Description": "two", "InstanceGroupName": "w"}]})");
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 3, "Events": [
    {"EventTime": 1767225600, "EventLevel": "Error", "Description": "three", "InstanceGroupName": "x"}]})");
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 3, "Events": []})");
  EventOptions options;
  options.cluster = "demo";
  options.level = "Warn";
  options.group = "w";
  ASSERT_TRUE(show_events(world.context, options));
  EXPECT_EQ(world.out.str(), "2026-01-01 00:00:00Z  Warn   w             two\n");
  EXPECT_EQ(world.transport.requests("Espalier.WatchEvents").at(2).at("AfterSequence"), 3);
}

TEST(Events, FollowUntilTheClusterIsGoneOneJsonALine) {
  FakeWorld world;
  world.context.json = true;
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 0, "Events": []})");
  world.transport.answer("Espalier.WatchEvents", R"({"LastSequence": 1, "Events": [{"Description": "one"}]})");
  world.transport.answer("Espalier.WatchEvents", R"({"__type": "ResourceNotFound"})", 400);
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": []})");
  EventOptions options;
  options.cluster = "demo";
  options.follow = true;
  ASSERT_TRUE(show_events(world.context, options));
  EXPECT_EQ(world.out.str(), "{\"Description\":\"one\"}\n");
  EXPECT_EQ(world.transport.requests("Espalier.WatchEvents").at(1).at("WaitSeconds"), 20);
}

TEST(Topology, IsDrawnOrPrintedAsItsFile) {
  FakeWorld world;
  world.transport.answer("Espalier.DescribeTopology", R"({"Model": "tree", "Because": "all have positions",
    "True": true, "Revision": 3, "Drawing": "fabric\n└─ nn-1\n", "File": "SwitchName=nn-1\n"})");
  ASSERT_TRUE(show_topology(world.context, "demo"));
  EXPECT_EQ(world.out.str(), "Topology: tree (all have positions); revision 3, slurmctld agrees\nfabric\n└─ nn-1\n");
  world.out.str("");
  ASSERT_TRUE(show_topology(world.context, "demo", true));
  EXPECT_EQ(world.out.str(), "SwitchName=nn-1\n");
}

constexpr const char* kPendingTopology = R"({"Wish": "auto", "Model": "block", "Because": "all are UltraServers",
  "SlurmVersion": "26.5.5", "True": false, "Revision": 3, "Applied": "Moves", "Notes": ["one rack is short"],
  "Pending": ["block b2 is missing", "slurmctld is being reconfigured"],
  "Partitions": [{"Name": "nvl", "Model": "block", "Because": "as the whole cluster"}],
  "Blocks": [{"Name": "b1", "Domain": "nvl-1", "Nodes": ["g-1", "g-2"]}]})";

TEST(Topology, StatusSaysWhatIsPendingAndHowTheLastCame) {
  FakeWorld world;
  world.transport.answer("Espalier.DescribeTopology", kPendingTopology);
  ASSERT_TRUE(show_topology_status(world.context, "demo"));
  for (const char* text :
       {"model:   block (set to auto): all are UltraServers", "applied: revision 3, by moving nodes live",
        "slurmctld does not have it yet", "pending: slurmctld is being reconfigured", "note:    one rack is short",
        "b1     nvl-1          g-[1-2]"})
    EXPECT_THAT(world.out.str(), HasSubstr(text));
}

TEST(Topology, TheChoiceIsExplainedForThePartitionsOrANode) {
  FakeWorld world;
  world.transport.answer("Espalier.DescribeTopology", kPendingTopology);
  ASSERT_TRUE(explain_choice(world.context, "demo"));
  EXPECT_THAT(world.out.str(), HasSubstr("nvl        block     as the whole cluster"));
  world.out.str("");
  world.transport.answer("Espalier.ExplainNode", R"({"Places": ["tree: on leaf nn-1"]})");
  ASSERT_TRUE(explain_choice(world.context, "demo", "p5-1"));
  EXPECT_EQ(world.out.str(), "tree: on leaf nn-1\n");
  EXPECT_EQ(world.transport.requests("Espalier.ExplainNode").at(0).at("NodeName"), "p5-1");
  FakeWorld other;
  other.transport.answer("Espalier.ExplainNode", R"({"Because": "it is a login machine"})");
  EXPECT_EQ(explain_choice(other.context, "demo", "login-1").error().code, ErrorCode::kNotFound);
}

TEST(ExplainJob, SaysWhyAndWhatWouldRun) {
  FakeWorld world;
  world.transport.answer("Espalier.ExplainJob", R"({"JobId": "7", "State": "PENDING", "Reason": "Resources",
    "Partition": "nvl", "NodeCount": 16, "Because": ["no NVLink domain has 16 free"], "WouldRun": ["--segment=8"]})");
  ASSERT_TRUE(explain_job(world.context, "demo", "7"));
  EXPECT_EQ(world.out.str(),
            "Job 7 (16 nodes of partition nvl) is PENDING: Resources\nbecause: no NVLink domain has 16 free\n"
            "--segment=8 would run now\n");
  for (const char* word : {"7", "7_2", "12+1"}) EXPECT_TRUE(is_job(word)) << word;
  for (const char* word : {"p5-3", "i-0123", "", "7a"}) EXPECT_FALSE(is_job(word)) << word;
}

TEST(Topology, IsSet) {
  FakeWorld world;
  world.transport.answer("Espalier.SetTopology", R"({"Topology": "off"})");
  ASSERT_TRUE(set_topology(world.context, "demo", "off"));
  EXPECT_EQ(world.transport.requests("Espalier.SetTopology").at(0).at("Topology"), "off");
  EXPECT_THAT(world.out.str(), HasSubstr("is set to off"));
}

TEST(Capacity, RequestHasOnlyWhatWasGiven) {
  CapacityOptions options;
  options.pools = {"a=6", "b=unlimited"};
  EXPECT_EQ(json::serialize(*capacity_request(options)), R"({"Pools":{"a":{"Machines":6},"b":{"Machines":null}}})");
  options.pools = {"a"};
  options.launch_time = Millis(2000);
  options.failure_rate = 0.5;
  options.failure_class = "Shortage";
  EXPECT_EQ(json::serialize(*capacity_request(options)),
            R"({"Pools":{"a":{"LaunchTimeMillis":2000,"FailureRate":5E-1,"FailureClass":"Shortage"}}})");
  for (const char* text : {"a", "a=many", "a=-1"}) {
    CapacityOptions wrong;
    wrong.pools = {text};
    EXPECT_FALSE(capacity_request(wrong)) << text;
  }
}

TEST(Capacity, IsATable) {
  FakeWorld world;
  world.transport.answer("Espalier.DescribeCapacity", R"({"Pools": {
    "default": {"InUse": 0, "LaunchTimeMillis": 0}, "ml.p5.48xlarge": {"Machines": 6, "InUse": 4,
    "LaunchTimeMillis": 2000, "FailureRate": 0.1, "FailureClass": "Shortage"}}})");
  ASSERT_TRUE(show_capacity(world.context));
  EXPECT_EQ(world.out.str(),
            "TYPE            MACHINES   IN USE  LAUNCH TIME  FAILURE RATE  FAILURE\n"
            "default         unlimited  0       0.0s         0             -\n"
            "ml.p5.48xlarge  6          4       2.0s         0.1           Shortage\n");
}

TEST(Status, SaysWhatAnswers) {
  FakeWorld world;
  world.transport.answer("Espalier.DescribeService", R"({"Version": "0.1.0", "Provider": "local",
    "StateFolder": "/s", "AgentEndpoint": "http://10.77.0.1:8651", "ProcessId": 42})");
  world.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": [{"ClusterName": "a"}]})");
  ASSERT_TRUE(show_status(world.context));
  EXPECT_THAT(world.out.str(), HasSubstr("Espalier 0.1.0 answers at http://control.\n"));
  EXPECT_THAT(world.out.str(), HasSubstr("1 cluster in eu-west-1.\n"));
}

TEST(Down, OfAnotherControlPlaneDeletesNothing) {
  FakeWorld world;
  world.transport.answer("Espalier.DescribeService", R"({"Version": "0.1.0", "StateFolder": "/srv/theirs"})");
  const auto ended = down(world.context, "/srv/ours");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kConflict);
  EXPECT_THAT(ended.error().message, HasSubstr("keeps its state in /srv/theirs, not in /srv/ours"));
  EXPECT_TRUE(world.transport.requests("SageMaker.ListClusters").empty());
  EXPECT_TRUE(world.transport.requests("SageMaker.DeleteCluster").empty());
}

TEST(Down, WithoutAControlPlaneSaysWhetherMachinesAreLeft) {
  FakeWorld world;
  for (int i = 0; i < 2; ++i)
    world.transport.answer("Espalier.DescribeService",
                           [](const json::object&) { return fail(ErrorCode::kUnavailable, "no"); });
  const auto state = std::filesystem::path(testing::TempDir()) / "down-state";
  EXPECT_TRUE(down(world.context, state.string())) << "there is nothing to do";
  EXPECT_THAT(world.out.str(), HasSubstr("there are no machines in"));
  std::filesystem::create_directories(state / "machines" / "i-1");
  EXPECT_THAT(down(world.context, state.string()).error().message, HasSubstr("run on without one"));
  std::filesystem::remove_all(state);
}

class Ssh : public testing::Test {
 protected:
  Ssh() { world.transport.answer("Espalier.DescribeAccess", R"({"MachineFolder": "/m/i-1", "NodeName": "w-1"})"); }
  Result<int> enter(const std::string& node, std::vector<std::string> command) {
    return ssh(world.context, {"demo", node, "ubuntu", std::move(command)},
               [this](const std::string& folder, const std::vector<std::string>& argv, const std::string& user) {
                 entered = {folder, user};
                 entered.insert(entered.end(), argv.begin(), argv.end());
                 return Result<int>(7);
               });
  }

  FakeWorld world;
  std::vector<std::string> entered;
};

TEST_F(Ssh, EntersTheMachineAndGivesItsExitCode) {
  EXPECT_EQ(enter("w-1", {}), 7);
  EXPECT_THAT(entered, ElementsAre("/m/i-1", "ubuntu"));
  EXPECT_EQ(world.transport.requests("Espalier.DescribeAccess").at(0).at("NodeName"), "w-1");
  EXPECT_EQ(enter("i-0123456789abcdef0", {}), 7);
  EXPECT_EQ(world.transport.requests("Espalier.DescribeAccess").at(1).at("NodeId"), "i-0123456789abcdef0");
}

TEST_F(Ssh, OneWordIsALineForTheShellSeveralAreAProgram) {
  ASSERT_TRUE(enter("w-1", {"sinfo | head"}));
  EXPECT_THAT(entered, ElementsAre("/m/i-1", "ubuntu", "sinfo | head"));
  ASSERT_TRUE(enter("w-1", {"echo", "it's $HOME"}));
  EXPECT_THAT(entered, ElementsAre("/m/i-1", "ubuntu", "'echo'", R"('it'\''s $HOME')"));
}

TEST_F(Ssh, SuggestsTheNodeThatMayHaveBeenMeant) {
  FakeWorld other;
  other.transport.answer("Espalier.DescribeAccess", R"({"__type": "ResourceNotFound", "Message": "no machine"})", 400);
  other.transport.answer("SageMaker.ListClusters", R"({"ClusterSummaries": [{"ClusterName": "demo"}]})");
  other.transport.answer("Espalier.DescribeNodes", R"({"Nodes": [{"NodeName": "worker-1"}]})");
  const auto enter_nothing = [](const auto&, const auto&, const auto&) { return Result<int>(0); };
  EXPECT_EQ(ssh(other.context, {"demo", "worker1", "ubuntu", {}}, enter_nothing).error().message,
            "Cluster 'demo' has no node 'worker1' to enter. Did you mean 'worker-1'?");
  EXPECT_EQ(ssh(other.context, {"demo", "worker-1", "ubuntu", {}}, enter_nothing).error().message, "no machine");
}

TEST(Explain, SaysWhyWhatIsNextAndWhatHappened) {
  FakeWorld world;
  world.transport.answer("Espalier.ExplainNode", R"({
      "Node": {"NodeName": "p5-3", "InstanceGroupName": "p5", "InstanceType": "ml.p5.48xlarge", "State": "Backoff",
               "Attempts": 4, "Message": "no capacity"},
      "Because": "its pool gives nothing", "Next": "the pool is asked again",
      "Conditions": [{"Type": "Launched", "Holds": false, "Reason": "lost"}],
      "Health": {"Gpus": 8, "NeuronDevices": 0, "ClockAheadMillis": -2500, "Disks": [{"Path": "/", "FreeBytes": 5, "TotalBytes": 10}],
                 "Daemons": [{"Name": "slurmd", "Running": false, "Message": "killed"}]},
      "History": [{"EventLevel": "Error", "Description": "Failed", "FailureMessage": "no capacity"}]})");
  ASSERT_TRUE(explain_node(world.context, "demo", "p5-3"));
  EXPECT_THAT(world.out.str(), HasSubstr("because: its pool gives nothing"));
  EXPECT_THAT(world.out.str(), HasSubstr("next:    the pool is asked again"));
  EXPECT_THAT(world.out.str(), HasSubstr("no capacity (failed tries: 4)"));
  EXPECT_THAT(world.out.str(), HasSubstr("health:  8 GPUs, slurmd is down (killed), / 50% free, clock -2.5 s"));
  EXPECT_THAT(world.out.str(), HasSubstr("Launched"));
  EXPECT_THAT(world.out.str(), HasSubstr("Failed: no capacity"));
  EXPECT_EQ(world.transport.requests("Espalier.ExplainNode").at(0).at("NodeName"), "p5-3");
}

TEST(Explain, TakesNamesInstanceIdsAndLogicalIds) {
  FakeWorld world;
  for (int i = 0; i < 3; ++i) world.transport.answer("Espalier.ExplainNode", R"({"Node": {"NodeName": "p5-3"}})");
  ASSERT_TRUE(explain_node(world.context, "demo", "i-0123456789abcdef0"));
  ASSERT_TRUE(explain_node(world.context, "demo", "0b2f1c3a-1111-4222-8333-444455556666"));
  EXPECT_TRUE(world.transport.requests("Espalier.ExplainNode").at(0).contains("NodeId"));
  EXPECT_TRUE(world.transport.requests("Espalier.ExplainNode").at(1).contains("NodeLogicalId"));
}

}  // namespace
}  // namespace espalier::cli
