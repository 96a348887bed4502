#include "reconcile/wish.h"

#include <gmock/gmock.h>

namespace espalier::reconcile {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

GroupWish group(std::string name, NodeType type, std::string instance_type, int count) {
  GroupWish wish;
  wish.name = std::move(name);
  wish.type = type;
  wish.has_slurm_config = true;
  wish.instance_type = std::move(instance_type);
  wish.count = count;
  wish.spec = {{"ExecutionRole", "arn:aws:iam::000000000000:role/a"}};
  if (type == NodeType::Compute) wish.partitions = {"gpu"};
  return wish;
}

ClusterWish good() {
  ClusterWish wish;
  wish.name = "demo";
  wish.groups = {group("controller", NodeType::Controller, "ml.c5.xlarge", 1),
                 group("login", NodeType::Login, "ml.c5.large", 1),
                 group("workers", NodeType::Compute, "ml.p5.48xlarge", 8)};
  return wish;
}

// What check() says: "" when it is content.
std::string said(const Result<void>& result, ErrorCode code = ErrorCode::kInvalid) {
  if (result) return "";
  EXPECT_EQ(result.error().code, code) << result.error().message;
  return result.error().message;
}
std::string create(const ClusterWish& wish, const Quotas& quotas = {}, int elsewhere = 0,
                   ErrorCode code = ErrorCode::kInvalid) {
  return said(check(wish, quotas, elsewhere), code);
}

ClusterState existing() {
  ClusterState state;
  state.cluster.name = "demo";
  state.cluster.status = ClusterStatus::InService;
  for (const auto& wish : good().groups) {
    Group made;
    made.name = wish.name;
    made.type = wish.type;
    made.instance_type = wish.instance_type;
    made.partition = wish.partitions.empty() ? "" : wish.partitions.front();
    made.target_count = wish.count;
    made.spec = wish.spec;
    state.groups[made.name] = made;
  }
  return state;
}
std::string update(const ClusterChange& change, const ClusterState& state = existing(), const Quotas& quotas = {},
                   ErrorCode code = ErrorCode::kInvalid) {
  return said(check(change, state, quotas, 0), code);
}
ClusterChange with(GroupWish wish) {
  return {.groups = {std::move(wish)}, .groups_to_delete = {}, .node_recovery = {}};
}
ClusterChange without(std::string name) {
  return {.groups = {}, .groups_to_delete = {std::move(name)}, .node_recovery = {}};
}

TEST(CreateWish, GoodOnePasses) { EXPECT_EQ(create(good()), ""); }

TEST(CreateWish, LoginGroupIsOptional) {
  auto wish = good();
  wish.groups.erase(wish.groups.begin() + 1);
  EXPECT_EQ(create(wish), "");
}

TEST(CreateWish, NeedsOneController) {
  auto wish = good();
  wish.groups.erase(wish.groups.begin());
  EXPECT_EQ(create(wish), "Cluster demo has no InstanceGroup with Controller node type.");
  wish.groups.clear();
  EXPECT_EQ(create(wish), "Cluster demo has no InstanceGroup with Controller node type.");
  wish = good();
  wish.groups.push_back(group("second", NodeType::Controller, "ml.c5.xlarge", 1));
  EXPECT_EQ(create(wish),
            "2 Controller Groups found: SlurmConfig for InstanceGroups may only have one Controller Group.");
}

TEST(CreateWish, ControllerIsOneInstance) {
  auto wish = good();
  wish.groups[0].count = 2;
  EXPECT_THAT(create(wish), AllOf(HasSubstr("'controller'"), HasSubstr("InstanceCount of 1, not 2")));
}

TEST(CreateWish, TakesOneLoginGroup) {
  auto wish = good();
  wish.groups.push_back(group("login2", NodeType::Login, "ml.c5.large", 1));
  EXPECT_THAT(create(wish), HasSubstr("2 Login Groups found"));
}

TEST(CreateWish, EveryGroupNeedsSlurmConfig) {
  auto wish = good();
  wish.groups[2].has_slurm_config = false;
  EXPECT_THAT(create(wish), HasSubstr("InstanceGroup 'workers' has no SlurmConfig"));
}

TEST(CreateWish, NewGroupsAreNotEmpty) {
  auto wish = good();
  wish.groups[2].count = 0;
  EXPECT_THAT(create(wish), HasSubstr("at least 1"));
}

TEST(CreateWish, PartitionsAreForComputeGroups) {
  auto wish = good();
  wish.groups[0].partitions = {"gpu"};
  wish.groups[1].partitions = {"gpu"};
  EXPECT_EQ(create(wish),
            "InstanceGroup 'controller': Partitions can only be assigned to Compute node types; "
            "InstanceGroup 'login': Partitions can only be assigned to Compute node types");
  wish = good();
  wish.groups[2].partitions.clear();
  EXPECT_THAT(create(wish), HasSubstr("exactly one name"));
  wish.groups[2].partitions = {"a", "b"};
  EXPECT_THAT(create(wish), HasSubstr("exactly one name"));
}

TEST(CreateWish, ReservedPartitionNames) {
  for (const auto* name : {"DEFAULT", "default", "dev", "Dev"}) {
    auto wish = good();
    wish.groups[2].partitions = {name};
    EXPECT_THAT(create(wish), HasSubstr(fmt::format("'{}' is taken", name)));
  }
  auto wish = good();
  wish.groups[2].partitions = {"dev-1"};
  EXPECT_EQ(create(wish), "");
}

TEST(CreateWish, GroupsMayShareAPartitionButNotInAnotherCase) {
  auto wish = good();
  wish.groups.push_back(group("more", NodeType::Compute, "ml.p5.48xlarge", 1));
  EXPECT_EQ(create(wish), "");
  wish.groups[3].partitions = {"GPU"};
  EXPECT_THAT(create(wish), HasSubstr("'gpu' and 'GPU' differ in case only"));
}

TEST(CreateWish, GroupNamesAreUniqueInAnyCase) {
  auto wish = good();
  wish.groups.push_back(group("Workers", NodeType::Compute, "ml.p5.48xlarge", 1));
  EXPECT_THAT(create(wish), HasSubstr("'workers' and 'Workers' differ in case only"));
  wish.groups[3].name = "workers";
  EXPECT_THAT(create(wish), HasSubstr("'workers' is listed twice"));
}

TEST(CreateWish, GroupNamesThatEndInNumbersCannotCollide) {
  auto wish = good();
  wish.groups.push_back(group("workers-1", NodeType::Compute, "ml.p5.48xlarge", 11));
  wish.groups.push_back(group("workers1", NodeType::Compute, "ml.p5.48xlarge", 11));
  EXPECT_EQ(create(wish), "");
}

TEST(CreateWish, LongestNodeNameFitsAHostName) {
  auto wish = good();
  wish.groups[2].name = std::string(61, 'w');
  wish.groups[2].count = 9;
  EXPECT_EQ(create(wish), "");
  wish.groups[2].count = 10;
  EXPECT_THAT(create(wish), AllOf(HasSubstr("64 characters"), HasSubstr("shorter")));
}

TEST(CreateWish, InstanceTypeExists) {
  auto wish = good();
  const auto with_type = [&](const char* type) {
    wish.groups[2].instance_type = type;
    return create(wish);
  };
  EXPECT_THAT(with_type("ml.p5.24xlarge"), HasSubstr("there are ml.p5.48xlarge, ml.p5.4xlarge"));
  EXPECT_THAT(with_type("p5.48xlarge"), HasSubstr("did you mean 'ml.p5.48xlarge'?"));
  EXPECT_THAT(with_type("ml.p6e-gb200.NVL72"), HasSubstr("'ml.p6e-gb200.36xlarge'"));
  EXPECT_THAT(with_type("nonsense"), HasSubstr("no instance type 'nonsense'"));
}

TEST(CreateWish, ExactlyOneOfTypeAndRequirements) {
  auto wish = good();
  wish.groups[2].instance_types = {"ml.p5.48xlarge", "ml.p5e.48xlarge"};
  EXPECT_THAT(create(wish), HasSubstr("exactly one of InstanceType and InstanceRequirements"));
  wish.groups[2].instance_type = "";
  EXPECT_EQ(create(wish), "");
  wish.groups[2].instance_types.clear();
  EXPECT_THAT(create(wish), HasSubstr("exactly one of InstanceType and InstanceRequirements"));
}

TEST(CreateWish, TypesOfAFlexibleGroupAreKnownAndDifferent) {
  auto wish = good();
  wish.groups[2].instance_type = "";
  wish.groups[2].instance_types = {"ml.p5.48xlarge", "ml.p5.48xlarge"};
  EXPECT_THAT(create(wish), HasSubstr("lists ml.p5.48xlarge twice"));
  wish.groups[2].instance_types = {"ml.p5.48xlarge", "ml.p99.48xlarge"};
  EXPECT_THAT(create(wish), HasSubstr("there is no instance type 'ml.p99.48xlarge'"));
}

TEST(CreateWish, MinimumIsNotAboveTheCount) {
  auto wish = good();
  wish.groups[2].min_count = 8;
  EXPECT_EQ(create(wish), "");
  wish.groups[2].min_count = 9;
  EXPECT_THAT(create(wish), HasSubstr("MinInstanceCount (9) must be between 0 and InstanceCount (8)"));
}

TEST(CreateWish, StorageRules) {
  auto wish = good();
  const auto with_storage = [&](const char* text) {
    wish.groups[2].spec["InstanceStorageConfigs"] = *parse_json(text);
    return create(wish);
  };
  EXPECT_EQ(with_storage(R"([{"EbsVolumeConfig": {"VolumeSizeInGB": 100}}])"), "");
  EXPECT_EQ(with_storage(R"([{"EbsVolumeConfig": {"RootVolume": true, "VolumeKmsKeyId": "k"}}])"), "");
  EXPECT_THAT(with_storage(R"([{"EbsVolumeConfig": {}}])"), HasSubstr("needs VolumeSizeInGB"));
  EXPECT_THAT(with_storage(R"([{"EbsVolumeConfig": {"RootVolume": true}}])"), HasSubstr("needs VolumeKmsKeyId"));
  EXPECT_THAT(with_storage(R"([{"FsxLustreConfig": {}}, {"FsxLustreConfig": {}}])"), HasSubstr("one FsxLustreConfig"));
}

TEST(CreateWish, OverrideOfTheNetworkNeedsANetwork) {
  auto wish = good();
  wish.groups[2].spec["OverrideVpcConfig"] = json::object{};
  EXPECT_THAT(create(wish), HasSubstr("needs a VpcConfig"));
  wish.spec["VpcConfig"] = json::object{};
  EXPECT_EQ(create(wish), "");
}

TEST(CreateWish, QuotasAreLimits) {
  EXPECT_EQ(create(good(), {.instances_per_cluster = 10, .instances_per_account = 20}, 10), "");
  EXPECT_THAT(create(good(), {.instances_per_cluster = 9}, 0, ErrorCode::kLimit),
              HasSubstr("instances of this cluster would be 10, the limit is 9"));
  EXPECT_THAT(create(good(), {.instances_per_account = 20}, 11, ErrorCode::kLimit),
              HasSubstr("instances of this account would be 21, the limit is 20"));
}

TEST(CreateWish, SlurmHasALimitToo) {
  auto wish = good();
  for (int i = 0; i < 10; ++i)
    wish.groups.push_back(group(fmt::format("g{}", i), NodeType::Compute, "ml.p5.48xlarge", 6758));
  EXPECT_THAT(create(wish, {}, 0, ErrorCode::kLimit), HasSubstr("65536"));
}

TEST(CreateWish, AllProblemsAtOnce) {
  auto wish = good();
  wish.groups[0].partitions = {"gpu"};
  wish.groups[2].count = 0;
  wish.groups.push_back(group("login2", NodeType::Login, "ml.nothing", 1));
  EXPECT_THAT(create(wish), AllOf(HasSubstr("Partitions can only"), HasSubstr("at least 1"), HasSubstr("ml.nothing"),
                                  HasSubstr("2 Login Groups")));
}

TEST(UpdateWish, ScalesUpAndDown) {
  for (const int count : {0, 1, 8, 6000}) {
    EXPECT_EQ(update(with(group("workers", NodeType::Compute, "ml.p5.48xlarge", count))), "");
  }
  EXPECT_EQ(update(with(group("login", NodeType::Login, "ml.c5.large", 0))), "");
}

TEST(UpdateWish, GroupKeepsItsSlurmConfig) {
  auto wish = group("workers", NodeType::Compute, "ml.p5.48xlarge", 9);
  wish.has_slurm_config = false;
  wish.partitions.clear();
  EXPECT_EQ(update(with(wish)), "");
}

TEST(UpdateWish, GroupMayMoveToAnotherPartition) {
  auto wish = group("workers", NodeType::Compute, "ml.p5.48xlarge", 8);
  wish.partitions = {"other"};
  EXPECT_EQ(update(with(wish)), "");
}

TEST(UpdateWish, AddsAGroup) {
  auto wish = group("cpu", NodeType::Compute, "ml.c5.4xlarge", 2);
  EXPECT_EQ(update(with(wish)), "");
  wish.count = 0;
  EXPECT_THAT(update(with(wish)), HasSubstr("at least 1"));
  wish.count = 1;
  wish.has_slurm_config = false;
  EXPECT_THAT(update(with(wish)), HasSubstr("has no SlurmConfig"));
}

TEST(UpdateWish, NamesOfOldAndNewGroupsAreUnique) {
  EXPECT_THAT(update(with(group("LOGIN", NodeType::Compute, "ml.c5.large", 1))), HasSubstr("differ in case only"));
  auto twice = with(group("workers", NodeType::Compute, "ml.p5.48xlarge", 1));
  twice.groups.push_back(twice.groups[0]);
  EXPECT_THAT(update(twice), HasSubstr("listed twice"));
}

TEST(UpdateWish, NoSecondControllerOrLogin) {
  EXPECT_THAT(update(with(group("c2", NodeType::Controller, "ml.c5.xlarge", 1))), HasSubstr("2 Controller Groups"));
  EXPECT_THAT(update(with(group("l2", NodeType::Login, "ml.c5.xlarge", 1))), HasSubstr("2 Login Groups"));
}

TEST(UpdateWish, ControllerStaysOne) {
  for (const int count : {0, 2})
    EXPECT_THAT(update(with(group("controller", NodeType::Controller, "ml.c5.xlarge", count))),
                HasSubstr(fmt::format("InstanceCount of 1, not {}", count)));
}

TEST(UpdateWish, ImmutableFields) {
  auto wish = group("workers", NodeType::Compute, "ml.p5e.48xlarge", 8);
  wish.spec["ExecutionRole"] = "arn:aws:iam::000000000000:role/b";
  wish.spec["ThreadsPerCore"] = 1;
  wish.image = "ami-00000000";
  wish.spec["OverrideVpcConfig"] = json::object{};
  auto state = existing();
  state.cluster.spec["VpcConfig"] = json::object{};
  EXPECT_EQ(update(with(wish), state),
            "InstanceGroup 'workers': Updating fields InstanceType, ExecutionRole, ThreadsPerCore, OverrideVpcConfig, "
            "ImageId on an "
            "InstanceGroup not supported");
  EXPECT_THAT(update(with(group("login", NodeType::Compute, "ml.c5.large", 1))),
              HasSubstr("Updating fields SlurmConfig.NodeType on an InstanceGroup not supported"));
}

TEST(UpdateWish, DeletesGroups) {
  EXPECT_EQ(update(without("workers")), "");
  EXPECT_EQ(update(without("login")), "");
  EXPECT_THAT(update(without("nothing")), HasSubstr("no InstanceGroup 'nothing'"));
  EXPECT_THAT(update(without("controller")), HasSubstr("is the Controller group"));
}

TEST(UpdateWish, GroupIsEitherChangedOrDeleted) {
  auto change = with(group("workers", NodeType::Compute, "ml.p5.48xlarge", 1));
  change.groups_to_delete = {"workers"};
  EXPECT_THAT(update(change), HasSubstr("both in InstanceGroups and in InstanceGroupsToDelete"));
}

TEST(UpdateWish, LoginGroupCanBeReplacedInOneCall) {
  auto change = with(group("login2", NodeType::Login, "ml.c5.large", 1));
  change.groups_to_delete = {"login"};
  EXPECT_EQ(update(change), "");
}

TEST(UpdateWish, WhatIsBeingDeletedIsBusy) {
  auto state = existing();
  state.groups["workers"].deleting = true;
  const auto wish = group("workers", NodeType::Compute, "ml.p5.48xlarge", 1);
  EXPECT_THAT(update(with(wish), state, {}, ErrorCode::kConflict), HasSubstr("'workers'"));
  EXPECT_EQ(update(without("workers"), state), "");
  state.cluster.status = ClusterStatus::Deleting;
  EXPECT_THAT(update({}, state, {}, ErrorCode::kConflict), HasSubstr("being deleted"));
}

TEST(UpdateWish, QuotasBindGrowthOnly) {
  const Quotas quotas{.instances_per_cluster = 5};
  EXPECT_EQ(update(with(group("workers", NodeType::Compute, "ml.p5.48xlarge", 7)), existing(), quotas), "");
  EXPECT_THAT(
      update(with(group("workers", NodeType::Compute, "ml.p5.48xlarge", 9)), existing(), quotas, ErrorCode::kLimit),
      HasSubstr("the limit is 5"));
}

}  // namespace
}  // namespace espalier::reconcile
