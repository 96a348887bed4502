#include "cli/requests.h"

#include <gtest/gtest.h>

namespace espalier::cli {
namespace {

json::object object_of(std::string_view text) { return parse_json(text)->get_object(); }
GroupOption group(std::string_view text) { return *parse_group(text); }

TEST(CreateRequest, HasWhatAContinuousSlurmClusterNeeds) {
  const auto groups = with_base_groups({group("name=w,type=ml.p5.48xlarge,count=8,partition=gpu,min=2")},
                                       {"ml.c5.xlarge", "ml.c5.large", true});
  EXPECT_EQ(json::value(create_request("demo", groups)), *parse_json(R"({
    "ClusterName": "demo",
    "InstanceGroups": [
      {"InstanceGroupName": "controller", "InstanceType": "ml.c5.xlarge", "InstanceCount": 1,
       "ExecutionRole": "arn:aws:iam::123456789012:role/espalier", "SlurmConfig": {"NodeType": "Controller"}},
      {"InstanceGroupName": "login", "InstanceType": "ml.c5.large", "InstanceCount": 1,
       "ExecutionRole": "arn:aws:iam::123456789012:role/espalier", "SlurmConfig": {"NodeType": "Login"}},
      {"InstanceGroupName": "w", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 8, "MinInstanceCount": 2,
       "ExecutionRole": "arn:aws:iam::123456789012:role/espalier",
       "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]}}],
    "Orchestrator": {"Slurm": {}},
    "NodeProvisioningMode": "Continuous"})"));
}

TEST(BaseGroups, AreNotAddedTwice) {
  const auto own = with_base_groups({group("name=head,type=t,kind=controller"), group("name=w,type=t")}, {});
  ASSERT_EQ(own.size(), 3u);
  EXPECT_EQ(own[0].name, "login");
  EXPECT_EQ(own[1].name, "head");
  EXPECT_EQ(with_base_groups({group("name=w,type=t")}, {"c", "l", false}).size(), 2u) << "no login wanted";
}

TEST(ResizedSpec, CarriesTheWholeGroup) {
  const auto spec = resized_spec(object_of(R"({
    "InstanceGroupName": "w", "InstanceType": "ml.p5.48xlarge", "ExecutionRole": "r", "ThreadsPerCore": 1,
    "CurrentCount": 8, "TargetCount": 8, "MinCount": 6, "Status": "InService", "ActiveOperations": {"Scaling": 1},
    "LifeCycleConfig": {"SourceS3Uri": "s3://x", "OnCreate": "a.sh"}, "TrainingPlanArn": null,
    "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]}})"),
                                 4);
  EXPECT_EQ(json::value(spec), *parse_json(R"({
    "InstanceGroupName": "w", "InstanceType": "ml.p5.48xlarge", "ExecutionRole": "r", "ThreadsPerCore": 1,
    "LifeCycleConfig": {"SourceS3Uri": "s3://x", "OnCreate": "a.sh"},
    "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]},
    "InstanceCount": 4, "MinInstanceCount": 4})"));
}

TEST(ResizedSpec, OfAFlexibleGroupKeepsItsTypes) {
  const auto spec = resized_spec(
      object_of(R"({"InstanceGroupName": "w", "InstanceRequirements": {"DesiredInstanceTypes": ["a", "b"]}})"), 1);
  EXPECT_EQ(spec.at("InstanceRequirements"), *parse_json(R"({"InstanceTypes": ["a", "b"]})"));
}

TEST(ResizedGroups, NamesTheGroupThatMayHaveBeenMeant) {
  const auto cluster = object_of(R"({"InstanceGroups": [{"InstanceGroupName": "worker"}]})");
  const auto groups = resized_groups(cluster, {{"wroker", 4}});
  ASSERT_FALSE(groups);
  EXPECT_EQ(groups.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(groups.error().message, "The cluster has no group 'wroker'. Did you mean 'worker'?");
}

}  // namespace
}  // namespace espalier::cli
