#include "api/api_fixture_test.h"

namespace espalier::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using ClusterApi = ApiTest;

TEST_F(ClusterApi, CreateAndDescribe) {
  auto& state = create_demo();
  auto out = good("DescribeCluster", R"({"ClusterName": "demo"})");
  EXPECT_EQ(str(out["ClusterArn"]), arn_of(state.cluster));
  EXPECT_EQ(out["ClusterStatus"], "Creating");
  EXPECT_EQ(out["CreationTime"].to_number<double>(), 1767225600.25);
  EXPECT_EQ(out["NodeRecovery"], "Automatic");
  EXPECT_EQ(out["NodeProvisioningMode"], "Continuous");
  EXPECT_EQ(out["Orchestrator"], (json::object{{"Slurm", json::object{}}}));
  const auto& groups = out["InstanceGroups"].as_array();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(json::serialize(groups[0]),
            R"({"InstanceGroupName":"controller","CurrentCount":0,"TargetCount":1,)"
            R"("MinCount":0,"Status":"Creating","SlurmConfig":{"NodeType":"Controller"},"InstanceType":"ml.c5.xlarge",)"
            R"("LifeCycleConfig":{"SourceS3Uri":"s3://sagemaker-demo/","OnCreate":"on_create.sh"},)"
            R"("ExecutionRole":"arn:aws:iam::000000000000:role/demo"})");
  EXPECT_EQ(groups[1].at("MinCount"), 1);
  EXPECT_EQ(groups[1].at("ThreadsPerCore"), 2);
  EXPECT_EQ(groups[1].at("SlurmConfig").at("PartitionNames"), json::array{"gpu"});
}

TEST_F(ClusterApi, DescribeByArnToo) {
  const auto arn = arn_of(create_demo().cluster);
  EXPECT_EQ(good("DescribeCluster", R"({"ClusterName": ")" + arn + R"("})")["ClusterName"], "demo");
}

TEST_F(ClusterApi, NullsAreNotKept) {
  good("CreateCluster", demo_with("/InstanceGroups/0/ThreadsPerCore", "null"));
  EXPECT_FALSE(clusters.states.begin()->second.groups["controller"].spec.contains("ThreadsPerCore"));
}

TEST_F(ClusterApi, CountsWhatIsUp) {
  auto& state = create_demo();
  state.groups["workers"].scaling = true;
  clusters.launch(state, "workers-1", SlotState::Ready);
  clusters.launch(state, "workers-2", SlotState::Booting);
  auto out = good("DescribeCluster", R"({"ClusterName": "demo"})");
  const auto& workers = out["InstanceGroups"].as_array()[1].as_object();
  EXPECT_EQ(workers.at("CurrentCount"), 1);
  EXPECT_EQ(workers.at("TargetCount"), 3);
  EXPECT_EQ(workers.at("ActiveOperations"), (json::object{{"Scaling", 1}}));
}

TEST_F(ClusterApi, FlexibleGroupsShowEachType) {
  auto& state = create_demo();
  state.groups["workers"].instance_types = {"ml.p5.48xlarge", "ml.p5e.48xlarge"};
  clusters.launch(state, "workers-1", SlotState::Ready).instance_type = "ml.p5e.48xlarge";
  clusters.launch(state, "workers-2", SlotState::Booting);
  auto out = good("DescribeCluster", R"({"ClusterName": "demo"})");
  const auto& workers = out["InstanceGroups"].as_array()[1].as_object();
  EXPECT_FALSE(workers.contains("InstanceType"));
  EXPECT_EQ(workers.at("CurrentCount"), 1);
  EXPECT_EQ(workers.at("InstanceRequirements").at("CurrentInstanceTypes"),
            (json::array{"ml.p5.48xlarge", "ml.p5e.48xlarge"}));
  EXPECT_EQ(json::serialize(workers.at("InstanceTypeDetails")),
            R"([{"InstanceType":"ml.p5.48xlarge","CurrentCount":0,"ThreadsPerCore":2},)"
            R"({"InstanceType":"ml.p5e.48xlarge","CurrentCount":1,"ThreadsPerCore":2}])");
  const auto nodes = good("ListClusterNodes", R"({"ClusterName": "demo"})").at("ClusterNodeSummaries");
  EXPECT_EQ(nodes.as_array()[0].at("InstanceType"), "ml.p5e.48xlarge");
}

TEST_F(ClusterApi, FailureMessageIsShown) {
  create_demo().cluster.failure_message = "no capacity for the controller";
  EXPECT_EQ(good("DescribeCluster", R"({"ClusterName": "demo"})")["FailureMessage"], "no capacity for the controller");
}

TEST_F(ClusterApi, TakenNames) {
  create_demo();
  const auto reply = call("CreateCluster", kDemo);
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.type(), "ResourceInUse");
  EXPECT_THAT(reply.message(), HasSubstr("demo"));
}

TEST_F(ClusterApi, UnknownClusters) {
  for (const auto* operation : {"DescribeCluster", "DeleteCluster", "UpdateCluster", "ListClusterNodes",
                                "ListClusterEvents", "Espalier.DescribeNodes", "Espalier.WatchEvents"}) {
    const auto reply = call(operation, R"({"ClusterName": "nobody"})");
    EXPECT_EQ(reply.status, 400) << operation;
    EXPECT_EQ(reply.type(), "ResourceNotFound") << operation;
  }
}

// What a request must say, and what is not served: each with what to pass instead. Nothing is created.
TEST_F(ClusterApi, RefusalsSayWhatToPass) {
  const std::pair<std::string, const char*> cases[] = {
      {demo_with("/Orchestrator", "null"), R"(pass Orchestrator={"Slurm":{}})"},
      {demo_with("/Orchestrator", "{}"), "exactly one of [Eks, Slurm]"},
      {demo_with("/Orchestrator/Slurm/SlurmConfigStrategy", "\"Merge\""),
       R"('orchestrator.slurm.slurmConfigStrategy' failed to satisfy constraint: Member is not served)"},
      {demo_with("/InstanceGroups/1/InstanceType", "\"ml.p9.48xlarge\""),
       "Value 'ml.p9.48xlarge' at 'instanceGroups.2.member.instanceType'"},
      {demo_with("/InstanceGroups/1/InstanceType", "null"), "exactly one of InstanceType and InstanceRequirements"},
      {demo_with("/InstanceGroups/0/SlurmConfig/NodeType", "\"Compute\""), "no InstanceGroup with Controller"},
      {demo_with("/InstanceGroups/1/SlurmConfig/NodeType", "\"Worker\""), "[Controller, Login, Compute]"},
      {demo_with("/InstanceGroups/1/SlurmConfig/PartitionNames", "[\"dev\"]"), "'dev' is taken"},
      {demo_with("/InstanceGroups/1/AutoPatchConfig", R"({"PatchingStrategy": "WhenIdle"})"), "not served yet"},
      {demo_with("/InstanceGroups", "null"), "no InstanceGroup with Controller"},
      {demo_with("/ClusterName", "\"-\""), "'clusterName'"},
  };
  for (const auto& [body, expected] : cases) {
    const auto reply = call("CreateCluster", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_EQ(reply.type(), "ValidationException") << body;
    EXPECT_THAT(reply.message(), HasSubstr(expected)) << body;
  }
  EXPECT_TRUE(clusters.states.empty());
}

TEST_F(ClusterApi, AllThatIsWrongIsSaidAtOnce) {
  const auto reply = call("CreateCluster", R"({"ClusterName": "a_b", "NodeRecovery": "Sometimes"})");
  EXPECT_THAT(reply.message(), AllOf(HasSubstr("3 validation errors"), HasSubstr("'clusterName'"),
                                     HasSubstr("'nodeRecovery'"), HasSubstr("'orchestrator'")));
}

TEST_F(ClusterApi, EksIsRefused) {
  const auto eks = R"({"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/a"}})";
  EXPECT_THAT(call("CreateCluster", demo_with("/Orchestrator", eks)).message(),
              AllOf(HasSubstr("'orchestrator.eks'"), HasSubstr("Espalier runs Slurm clusters")));
}

TEST_F(ClusterApi, QuotasAreLimits) {
  clusters.quotas.instances_per_cluster = 3;
  EXPECT_EQ(call("CreateCluster", kDemo).type(), "ResourceLimitExceeded");
}

TEST_F(ClusterApi, Update) {
  const auto arn = arn_of(create_demo().cluster);
  auto out = good("UpdateCluster", R"({"ClusterName": "demo", "NodeRecovery": "None", "InstanceGroups": [
    {"InstanceGroupName": "workers", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 5,
     "ExecutionRole": "arn:aws:iam::000000000000:role/demo"},
    {"InstanceGroupName": "login", "InstanceType": "ml.c5.large", "InstanceCount": 1,
     "ExecutionRole": "arn:aws:iam::000000000000:role/demo", "SlurmConfig": {"NodeType": "Login"}}]})");
  EXPECT_EQ(str(out["ClusterArn"]), arn);
  ASSERT_EQ(clusters.changes.size(), 1u);
  const auto& change = clusters.changes[0];
  EXPECT_EQ(change.node_recovery, "None");
  ASSERT_EQ(change.groups.size(), 2u);
  EXPECT_EQ(change.groups[0].count, 5);
  EXPECT_FALSE(change.groups[0].has_slurm_config);
  EXPECT_EQ(change.groups[1].type, NodeType::Login);
}

TEST_F(ClusterApi, UpdateDeletesGroups) {
  create_demo();
  good("UpdateCluster", R"({"ClusterName": "demo", "InstanceGroupsToDelete": ["workers"]})");
  EXPECT_EQ(clusters.changes[0].groups_to_delete, std::vector<std::string>{"workers"});
  EXPECT_EQ(call("UpdateCluster", R"({"ClusterName": "demo", "InstanceGroupsToDelete": ["controller"]})").type(),
            "ValidationException");
}

TEST_F(ClusterApi, DeleteAnswersTheArn) {
  const auto& state = create_demo();
  EXPECT_EQ(str(good("DeleteCluster", R"({"ClusterName": "demo"})")["ClusterArn"]), arn_of(state.cluster));
  EXPECT_EQ(good("DescribeCluster", R"({"ClusterName": "demo"})")["ClusterStatus"], "Deleting");
  const auto reply = call("UpdateCluster", R"({"ClusterName": "demo"})");
  EXPECT_EQ(reply.type(), "ConflictException");
}

// ---- ListClusters --------------------------------------------------------------------------------------------------

class ListClusters : public ApiTest {
 protected:
  void SetUp() override {
    for (const auto* name : {"c", "a", "b"})
      good("CreateCluster", demo_with("/ClusterName", fmt::format("\"{}\"", name)));
  }
  // Names, over all pages of `size`.
  std::string names(const std::string& members = "", int size = 100) {
    std::string out;
    std::set<std::string> tokens;
    std::string token;
    do {
      const auto page = good("ListClusters", fmt::format(R"({{"MaxResults": {}{}{}}})", size,
                                                         members.empty() ? "" : ", " + members, token));
      EXPECT_LE(page.at("ClusterSummaries").as_array().size(), static_cast<std::size_t>(size));
      for (const auto& cluster : page.at("ClusterSummaries").as_array()) out += str(cluster.at("ClusterName"));
      const auto* next = page.if_contains("NextToken");
      token = next ? fmt::format(R"(, "NextToken": "{}")", str(*next)) : "";
      EXPECT_TRUE(token.empty() || tokens.insert(token).second) << "the same token twice";
    } while (!token.empty());
    return out;
  }
};

TEST_F(ListClusters, Sorts) {
  EXPECT_EQ(names(), "cab");
  EXPECT_EQ(names(R"("SortOrder": "Descending")"), "bac");
  EXPECT_EQ(names(R"("SortBy": "NAME")"), "abc");
  EXPECT_EQ(names(R"("SortBy": "NAME", "SortOrder": "Descending")"), "cba");
}

TEST_F(ListClusters, Filters) {
  EXPECT_EQ(names(R"("NameContains": "a")"), "a");
  EXPECT_EQ(names(R"("CreationTimeAfter": 1767225600.25)"), "ab");
  EXPECT_EQ(names(R"("CreationTimeBefore": 1767225601)"), "c");
}

TEST_F(ListClusters, ByTrainingPlan) {
  const std::string plan = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/large";
  good("CreateCluster", [&] {
    auto demo = parse_json(kDemo).value();
    demo.at_pointer("/ClusterName") = "d";
    demo.at_pointer("/InstanceGroups/1").as_object()["TrainingPlanArn"] = plan;
    return json::serialize(demo);
  }());
  EXPECT_EQ(names(fmt::format(R"("TrainingPlanArn": "{}")", plan)), "d");
  EXPECT_EQ(names(fmt::format(R"("TrainingPlanArn": "{}r")", plan)), "");
  const auto out = good("ListClusters", R"({"NameContains": "d"})");
  EXPECT_EQ(out.at("ClusterSummaries").as_array()[0].at("TrainingPlanArns"), json::array{plan});
}

TEST_F(ListClusters, Pages) {
  EXPECT_EQ(names("", 1), "cab");
  EXPECT_EQ(names(R"("SortBy": "NAME", "SortOrder": "Descending")", 2), "cba");
}

TEST_F(ListClusters, PagesStayRightWhenAClusterGoes) {
  auto first = good("ListClusters", R"({"MaxResults": 1})");
  clusters.states.erase(clusters.states.begin());  // the one just shown
  const auto second = good("ListClusters", R"({"NextToken": ")" + str(first["NextToken"]) + R"("})");
  EXPECT_EQ(second.at("ClusterSummaries").as_array().size(), 2u);
  EXPECT_FALSE(second.contains("NextToken"));
}

TEST_F(ListClusters, TokensAreForTheirQuery) {
  const auto token = str(good("ListClusters", R"({"MaxResults": 1})")["NextToken"]);
  for (const std::string& body :
       std::vector<std::string>{R"({"SortBy": "NAME", "NextToken": ")" + token + R"("})",
                                R"({"NextToken": ")" + token.substr(2) + R"("})", R"({"NextToken": "0"})",
                                R"({"NextToken": ")" + token + R"(00"})", std::string(R"({"NextToken": "zz zz"})")}) {
    const auto reply = call("ListClusters", body);
    EXPECT_EQ(reply.type(), "ValidationException") << body;
    EXPECT_THAT(reply.message(), HasSubstr("NextToken"));
  }
}

TEST_F(ClusterApi, AnUpdateMayMakeItContinuous) {
  create_demo();
  good("UpdateCluster", R"({"ClusterName": "demo", "NodeRecovery": "None"})");
  EXPECT_FALSE(clusters.changes.back().continuous);
  good("UpdateCluster",
       R"({"ClusterName": "demo", "NodeProvisioningMode": "Continuous", "Orchestrator": {"Slurm": {}}})");
  EXPECT_TRUE(clusters.changes.back().continuous);
  EXPECT_EQ(call("UpdateCluster", R"({"ClusterName": "demo", "Orchestrator": {"Eks": {"ClusterArn": "x"}}})").type(),
            "ValidationException");
}

}  // namespace
}  // namespace espalier::api
