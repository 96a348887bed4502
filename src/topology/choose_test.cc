#include "topology/choose.h"

#include <gmock/gmock.h>

namespace espalier::topology {
namespace {

using testing::HasSubstr;

constexpr slurm::Version k2305{23, 2, 0}, k2411{24, 11, 5}, k2605{26, 5, 5};
const char* const kTree = "ml.p5.48xlarge";
const char* const kBlock = "ml.p6e-gb200.36xlarge";
const char* const kNone = "ml.c5.4xlarge";

Choice of(const std::vector<GroupTypes>& groups, slurm::Version version,
          Preference preference = Preference::automatic) {
  return choose(groups, version, preference);
}

// The table of the guide: types of a partition → its topology, where several are possible.
TEST(Choose, GivesEveryPartitionItsTopology) {
  const auto partition = [](std::vector<std::string> types) {
    return of({{"g", "p", std::move(types)}, {"other", "q", {kTree}}}, k2605).partitions.at("p");
  };
  EXPECT_EQ(partition({kTree}).model, Model::tree);
  EXPECT_EQ(partition({kBlock}).model, Model::block);
  EXPECT_EQ(partition({kBlock, kTree}).model, Model::tree);
  EXPECT_EQ(partition({kNone}).model, Model::flat);
  EXPECT_EQ(partition({kNone, kTree}).model, std::nullopt);
  EXPECT_EQ(partition({kNone, kBlock}).model, std::nullopt);
  EXPECT_THAT(partition({kNone, kBlock}).because, HasSubstr(kNone));
}

TEST(Choose, CountsAllGroupsOfAPartition) {
  const auto made = of({{"a", "p", {kBlock}}, {"b", "p", {kTree}}, {"c", "r", {kBlock}}}, k2605);
  EXPECT_EQ(made.partitions.at("p").model, Model::tree);
  EXPECT_EQ(made.partitions.at("r").model, Model::block);
  EXPECT_EQ(made.model, Model::tree);
}

// types of the cluster → default, by version.
TEST(Choose, GivesTheClusterItsDefault) {
  const auto whole = [](std::vector<std::string> types, slurm::Version version) {
    return of({{"g", "p", std::move(types)}}, version).model;
  };
  EXPECT_EQ(whole({kNone}, k2411), Model::flat);
  EXPECT_EQ(whole({kNone}, k2605), Model::flat);
  EXPECT_EQ(whole({kTree, kNone}, k2411), Model::tree);
  EXPECT_EQ(whole({kTree, kBlock}, k2411), Model::tree);
  EXPECT_EQ(whole({kBlock}, k2411), Model::block);
  EXPECT_EQ(whole({kBlock}, k2605), Model::block);
  EXPECT_EQ(whole({kBlock, kNone}, k2411), Model::block);
  EXPECT_EQ(whole({kBlock, kNone}, k2605), Model::tree);
  EXPECT_EQ(whole({kBlock}, k2305), Model::tree);
  EXPECT_EQ(whole({kBlock, kNone}, k2305), Model::tree);
  EXPECT_EQ(of({}, k2605).model, Model::flat);
}

TEST(Choose, KnowsTheTypesThatTheFabricDoesNotKnow) {
  for (const auto* type : {"ml.p5.4xlarge", "ml.trn2.3xlarge", "ml.g4dn.12xlarge", "ml.g5.48xlarge", "ml.g6.48xlarge",
                           "ml.gr6.8xlarge", "ml.g7.24xlarge", "no-such-type"})
    EXPECT_EQ(class_of(type), TopologyClass::none) << type;
}

TEST(Choose, SaysWhyATreeServesForBlocks) {
  EXPECT_THAT(of({{"g", "p", {kBlock}}}, k2305).because, HasSubstr("23.02 (by rule, not tried) has no block topology"));
  EXPECT_THAT(of({{"g", "p", {kBlock}}}, k2411).partitions.at("p").because, HasSubstr("one topology"));
}

TEST(Choose, FollowsTheUser) {
  const std::vector<GroupTypes> groups = {{"g", "p", {kBlock}}, {"c", "q", {kNone}}};
  EXPECT_EQ(of(groups, k2605, Preference::off).model, Model::flat);
  EXPECT_EQ(of(groups, k2605, Preference::tree).model, Model::tree);
  EXPECT_EQ(of(groups, k2605, Preference::block).model, Model::block);
  EXPECT_EQ(of(groups, k2305, Preference::block).model, Model::tree);
  EXPECT_EQ(of(groups, k2605, Preference::off).partitions.at("p").model, std::nullopt);
  EXPECT_EQ(*read_preference("auto"), Preference::automatic);
  EXPECT_EQ(*read_preference("off"), Preference::off);
  EXPECT_THAT(read_preference("ring").error().message, HasSubstr("auto, tree, block or off"));
}

}  // namespace
}  // namespace espalier::topology
