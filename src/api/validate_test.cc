#include "api/validate.h"

#include <gmock/gmock.h>
#include <re2/re2.h>

#include <set>

namespace espalier::api {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string problems(const std::string& operation, std::string_view text) {
  const auto valid = validate(*input_shape("SageMaker." + operation), parse_json(text).value().as_object());
  return valid ? "" : valid.error().message;
}

TEST(Shapes, AllAreThere) {
  EXPECT_EQ(all_targets().size(), 46u);
  std::set<std::string> seen;
  const std::function<void(const std::string&)> walk = [&](const std::string& name) {
    if (name.empty() || !seen.insert(name).second) return;
    const auto& it = shape(name);  // aborts when it is missing
    for (const auto& next : {it.member, it.key, it.value}) walk(next);
    for (const auto& [member, next] : it.members) walk(next.shape);
  };
  walk("CreateClusterRequest");
  walk("DescribeClusterResponse");
  walk("UpdateClusterRequest");
  EXPECT_GT(seen.size(), 100u);
}

TEST(Validate, EmptyIsFineWhereNothingIsRequired) { EXPECT_EQ(problems("ListClusters", "{}"), ""); }

TEST(Validate, RequiredMembers) {
  EXPECT_EQ(
      problems("DescribeCluster", "{}"),
      "1 validation error detected: Value null at 'clusterName' failed to satisfy constraint: Member must not be null");
  EXPECT_THAT(problems("DescribeCluster", R"({"ClusterName": null})"), HasSubstr("must not be null"));
}

TEST(Validate, AllProblemsAtOnceWithPaths) {
  EXPECT_EQ(problems("UpdateCluster", R"({"ClusterName": "a", "InstanceGroups": [
              {"InstanceGroupName": "w", "InstanceCount": -1, "ExecutionRole": "arn:aws:iam::000000000000:role/r",
               "ThreadsPerCore": 3}]})"),
            "2 validation errors detected: "
            "Value -1 at 'instanceGroups.1.member.instanceCount' failed to satisfy constraint: "
            "Member must have value greater than or equal to 0; "
            "Value 3 at 'instanceGroups.1.member.threadsPerCore' failed to satisfy constraint: "
            "Member must have value less than or equal to 2");
}

std::string empty_groups(int count) {
  std::vector<std::string> groups(static_cast<std::size_t>(count), "{}");
  return problems("UpdateCluster",
                  fmt::format(R"({{"ClusterName": "a", "InstanceGroups": [{}]}})", fmt::join(groups, ",")));
}

TEST(Validate, AllThatFitAMessageAreListed) {
  const auto text = empty_groups(11);
  EXPECT_THAT(text, AllOf(HasSubstr("33 validation errors"), Not(HasSubstr("…"))));
  for (int i = 1; i <= 11; ++i)
    for (const auto* name : {"instanceGroupName", "instanceCount", "executionRole"})
      EXPECT_THAT(text, HasSubstr(fmt::format("'instanceGroups.{}.member.{}'", i, name)));
}

TEST(Validate, MoreProblemsThanThatAreCounted) {
  const auto text = empty_groups(50);
  EXPECT_THAT(text, AllOf(HasSubstr("150 validation errors"), ContainsRegex("; … and [0-9]+ more$")));
  EXPECT_LT(text.size(), 4096u) << "the wire's messages end there";
}

TEST(Validate, NullIsAbsentAndTheUnknownIsIgnored) {
  EXPECT_EQ(problems("ListClusters", R"({"NameContains": null, "Doughnuts": [1, {"a": 2}]})"), "");
}

TEST(Validate, OnlyWhatIsKnownIsKept) {
  const auto given = parse_json(R"({"ClusterName": "a", "Doughnuts": 1, "NodeRecovery": null, "InstanceGroups": [
      {"InstanceGroupName": "w", "Holes": {"Deep": []}, "LifeCycleConfig": {"OnCreate": "x", "Why": 3}}]})");
  EXPECT_EQ(
      json::serialize(known(*input_shape("SageMaker.UpdateCluster"), *given)),
      R"({"ClusterName":"a","NodeRecovery":null,"InstanceGroups":[{"InstanceGroupName":"w","LifeCycleConfig":{"OnCreate":"x"}}]})");
}

TEST(Validate, Types) {
  EXPECT_THAT(problems("DescribeCluster", R"({"ClusterName": 3})"), HasSubstr("Value 3 at 'clusterName'"));
  EXPECT_THAT(problems("ListClusters", R"({"MaxResults": "3"})"), HasSubstr("must be an integer"));
  EXPECT_THAT(problems("ListClusters", R"({"MaxResults": 3.5})"), HasSubstr("must be an integer"));
  EXPECT_THAT(problems("ListClusters", R"({"MaxResults": 99999999999999999999})"), HasSubstr("must be an integer"));
  EXPECT_THAT(problems("ListClusterNodes", R"({"ClusterName": "a", "IncludeNodeLogicalIds": "yes"})"),
              HasSubstr("must be true or false"));
  EXPECT_THAT(problems("UpdateCluster", R"({"ClusterName": "a", "InstanceGroups": {}})"), HasSubstr("must be a list"));
  EXPECT_THAT(problems("UpdateCluster", R"({"ClusterName": "a", "InstanceGroups": [3, null]})"),
              AllOf(HasSubstr("instanceGroups.1.member' failed to satisfy constraint: Member must be a structure"),
                    HasSubstr("instanceGroups.2.member")));
}

TEST(Validate, Timestamps) {
  for (const auto* good : {"1767225600", "1767225600.25", "0", "-1"})
    EXPECT_EQ(problems("ListClusters", fmt::format(R"({{"CreationTimeAfter": {}}})", good)), "");
  for (const auto* bad : {R"("2026-01-01")", "1e300", "true"})
    EXPECT_THAT(problems("ListClusters", fmt::format(R"({{"CreationTimeAfter": {}}})", bad)), HasSubstr("timestamp"));
}

TEST(Validate, BoundsOfListsAndValues) {
  EXPECT_THAT(problems("UpdateCluster", R"({"ClusterName": "a", "InstanceGroups": []})"),
              HasSubstr("length greater than or equal to 1"));
  EXPECT_EQ(problems("ListClusters", R"({"MaxResults": 100})"), "");
  EXPECT_THAT(problems("ListClusters", R"({"MaxResults": 101})"), HasSubstr("value less than or equal to 100"));
  EXPECT_THAT(problems("ListClusters", R"({"MaxResults": 0})"), HasSubstr("value greater than or equal to 1"));
}

TEST(Validate, LengthsCountCharacters) {
  const auto tags = [](const std::string& value) {
    return problems(
        "AddTags",
        R"({"ResourceArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/a", "Tags": [{"Key": "k", "Value": ")" +
            value + R"("}]})");
  };
  std::string umlauts;
  for (int i = 0; i < 256; ++i) umlauts += "ä";
  EXPECT_EQ(tags(umlauts), "");
  EXPECT_THAT(tags(umlauts + "ä"), HasSubstr("length less than or equal to 256"));
}

TEST(Validate, PatternsAreAnchored) {
  for (const auto* good : {"a", "a-b", "a--b9", "arn:aws:sagemaker:us-west-2:123456789012:cluster/abc123abc123"})
    EXPECT_EQ(problems("DescribeCluster", fmt::format(R"({{"ClusterName": "{}"}})", good)), "") << good;
  for (const auto* bad :
       {"", "-a", "a-", "a b", "a_b", "a\\n", "arn:aws:sagemaker:us-west-2:123456789012:cluster/demo"})
    EXPECT_THAT(problems("DescribeCluster", fmt::format(R"({{"ClusterName": "{}"}})", bad)),
                HasSubstr("regular expression pattern"))
        << bad;
}

TEST(Validate, Enums) {
  EXPECT_THAT(
      problems("ListClusters", R"({"SortOrder": "ascending"})"),
      HasSubstr("Value 'ascending' at 'sortOrder' failed to satisfy constraint: Member must satisfy enum value set: "
                "[Ascending, Descending]"));
}

TEST(Validate, UnionsHaveOneMember) {
  const auto storage = [](std::string_view config) {
    return problems(
        "UpdateCluster",
        fmt::format(R"({{"ClusterName": "a", "InstanceGroups": [{{"InstanceGroupName": "w", "InstanceCount": 1,
                      "ExecutionRole": "arn:aws:iam::000000000000:role/r", "InstanceStorageConfigs": [{}]}}]}})",
                    config));
  };
  EXPECT_EQ(storage(R"({"EbsVolumeConfig": {"VolumeSizeInGB": 5}, "FsxLustreConfig": null})"), "");
  EXPECT_THAT(storage("{}"), HasSubstr("exactly one of [EbsVolumeConfig, FsxLustreConfig, FsxOpenZfsConfig]"));
  EXPECT_THAT(storage(R"({"EbsVolumeConfig": {}, "FsxOpenZfsConfig": {"DnsName": "fs-01234567.fsx.example"}})"),
              HasSubstr("exactly one of"));
}

TEST(Validate, MembersForEksAreRefused) {
  EXPECT_THAT(problems("CreateCluster", R"({"ClusterName": "a", "TieredStorageConfig": {"Mode": "Enable"}})"),
              AllOf(HasSubstr("'tieredStorageConfig'"), HasSubstr("Orchestrator.Eks"), HasSubstr("leave it out")));
}

// The two patterns of the model with look-ahead, which RE2 does not have.
TEST(Validate, PatternsWithLookAhead) {
  const auto matches = [](const char* name, const std::string& text) {
    return re2::RE2::FullMatch(text, *shape(name).regex);
  };
  EXPECT_TRUE(matches("AlarmName", " a "));
  EXPECT_FALSE(matches("AlarmName", "  "));
  EXPECT_TRUE(matches("ClusterAccountingDatabaseEndpoint", "db.example.com"));
  EXPECT_FALSE(matches("ClusterAccountingDatabaseEndpoint", "db..example"));
  EXPECT_EQ(shape("ClusterAccountingDatabaseEndpoint").max, 255);
}

}  // namespace
}  // namespace espalier::api
