// The readers of EC2's answers, NVLink lists, paths and models, by example.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "topology/sources/source.h"

namespace espalier::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Path = std::vector<std::string>;

TEST(Ec2, ReadsInstances) {
  const auto found = read_ec2(R"({"Instances": [
    {"InstanceId": "i-1", "NetworkNodes": ["nn-1", "nn-2", "nn-3"], "CapacityBlockId": "cb-1"},
    {"InstanceId": "i-2", "NetworkNodes": ["nn-1", "nn-2", "nn-4"], "CapacityBlockId": null},
    {"InstanceId": "i-3", "NetworkNodes": ["nn-1", "nn-2", "nn-4"], "CapacityBlockId": "null"}]})");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.at("i-1"), (Position{{"nn-1", "nn-2", "nn-3"}, "cb-1"}));
  EXPECT_EQ(found->positions.at("i-2").domain, "");
  EXPECT_EQ(found->positions.at("i-3").domain, "");
  EXPECT_THAT(found->left_out.lines(), IsEmpty());
}

TEST(Ec2, ReadsPagesOneAfterTheOther) {
  const auto found = read_ec2(R"({"instances": [{"instanceId": "i-1", "networkNodes": ["a"]}], "nextToken": "x"}
                                 {"Instances": [{"InstanceId": "i-2", "NetworkNodes": ["a"]}]})");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.size(), 2U);
  EXPECT_THAT(found->left_out.lines(), IsEmpty());
  EXPECT_EQ(read_ec2(R"([{"Instances": []}, {"Instances": []}])")->positions.size(), 0U);
}

TEST(Ec2, SaysWhatItLeavesOut) {
  const auto found = read_ec2(R"({"Instances": [7, {"NetworkNodes": ["a"]}, {"InstanceId": "i-1"},
    {"InstanceId": "i-2", "NetworkNodes": ["a"]}, {"InstanceId": "i-2", "NetworkNodes": ["b"]}], "NextToken": "more"})");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->left_out.lines(),
              ElementsAre(HasSubstr("not an object"), HasSubstr("without InstanceId"), HasSubstr("i-1: no network"),
                          HasSubstr("i-2: two different"), HasSubstr("NextToken")));
  EXPECT_EQ(found->positions.at("i-2").network_nodes, Path{"b"});
  EXPECT_TRUE(found->doubtful.contains("i-2"));
}

TEST(Ec2, ReadsCapacityReservations) {
  const auto found = read_ec2(R"({"CapacityReservations": [
    {"CapacityReservationId": "cr-1", "State": "active", "NetworkNodes": ["nn-1", "nn-2"]}]})");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.at("cr-1").network_nodes, (Path{"nn-1", "nn-2"}));
}

TEST(Ec2, RefusesOtherText) {
  for (const char* text : {"", "  \n", "{}", "[1]", "7", "{\"Instances\":", "Switch 1 \"S-1\""})
    EXPECT_FALSE(read_ec2(text)) << text;
}

TEST(Nvlink, ReadsEveryUsualForm) {
  constexpr const char* kA = "5e797fc6-0f46-421a-8724-0e102c0f723c";
  const auto found =
      read_nvlink(fmt::format("# host, cluster, clique\ngb-1: {0}, 3\ngb-1: {0}, 3\ngb-2,{0},4\n"
                              "gb-3 {0}\ngb-4: {0}, [N/A]\n",
                              kA));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.at("gb-1").domain, fmt::format("{}.3", kA));
  EXPECT_EQ(found->positions.at("gb-2").domain, fmt::format("{}.4", kA));
  EXPECT_EQ(found->positions.at("gb-3").domain, kA);
  EXPECT_EQ(found->positions.at("gb-4").domain, kA);
}

TEST(Nvlink, OneUnknownMachineFailsNoOther) {
  const auto found = read_nvlink(
      "gb-1: 5e797fc6-0f46-421a-8724-0e102c0f723c, 1\ngb-2: [N/A], [N/A]\ngb-3: "
      "00000000-0000-0000-0000-000000000000, 0\ngb-4: nonsense\ngb-5: N/A\ngb-5: "
      "5e797fc6-0f46-421a-8724-0e102c0f723c, 1\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.size(), 2U);
  EXPECT_TRUE(found->positions.contains("gb-5"));
  EXPECT_THAT(found->left_out.lines(), ElementsAre(HasSubstr("line 4"), HasSubstr("gb-2"), HasSubstr("gb-3")));
}

TEST(Nvlink, GpusThatDisagreeAreDoubtful) {
  const auto found = read_nvlink(
      "gb-1: 5e797fc6-0f46-421a-8724-0e102c0f723c, 1\ngb-1: 5e797fc6-0f46-421a-8724-0e102c0f723c, 1\n"
      "gb-1: 5e797fc6-0f46-421a-8724-0e102c0f723c, 2\n");
  EXPECT_TRUE(found->positions.at("gb-1").domain.ends_with(".1"));
  EXPECT_TRUE(found->doubtful.contains("gb-1"));
}

TEST(Csv, ReadsHostListsPathsAndDomains) {
  const auto found =
      read_csv("node,path,domain\np5-[1-2,4],core/spine/leaf\n\"gb-[1,2]\",core/x,nvl-1 # rack 1\n,core\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.size(), 5U);
  EXPECT_EQ(found->positions.at("p5-4").network_nodes, (Path{"core", "spine", "leaf"}));
  EXPECT_EQ(found->positions.at("gb-2"), (Position{{"core", "x"}, "nvl-1"}));
}

RC_GTEST_PROP(Csv, WhatIsWrittenIsReadBack, ()) {
  Positions written;
  for (int i = *rc::gen::inRange(1, 9); i > 0; --i)
    written[fmt::format("n-{}", i)] = {{fmt::format("core-{}", *rc::gen::inRange(0, 2)), fmt::format("leaf {}", i)},
                                       *rc::gen::element<std::string>("", "nvl-1")};
  RC_ASSERT(read_csv(write_csv(written))->positions == written);
}

TEST(PathsYaml, ReadsBothForms) {
  const auto found = read_paths_yaml("p5-[1-2]: core/leaf-1\ngb-1: {path: [core, leaf-2], domain: nvl-1}\nx: 7\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.at("p5-2").network_nodes, (Path{"core", "leaf-1"}));
  EXPECT_EQ(found->positions.at("gb-1"), (Position{{"core", "leaf-2"}, "nvl-1"}));
  EXPECT_FALSE(read_paths_yaml("- a\n"));
  EXPECT_FALSE(read_paths_yaml("a: [\n"));
}

TEST(Model, FillsLeavesInOrder) {
  const auto found = read_model(
      "seed: 1\nleaves:\n  - {path: [core, a], machines: 2, domain: nvl-1}\n  - {path: [core, b], machines: 1}\n",
      {"n1", "n2", "n3", "n4"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.at("n2"), (Position{{"core", "a"}, "nvl-1"}));
  EXPECT_EQ(found->positions.at("n3").network_nodes.back(), "b");
  EXPECT_THAT(found->left_out.lines(), ElementsAre(HasSubstr("from n4 on")));
}

TEST(Model, ReadsSwitchesAndBlocks) {
  const auto found = read_model(
      "switches:\n  top: {switches: [s1]}\n  s1: {switches: [leaf-1]}\n  other: {switches: [leaf-1]}\n"
      "blocks:\n  - {switch: leaf-1, nodes: ['n[1-2]', n4], annotations: {some/domain: nvl-1}}\n",
      {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.at("n4"), (Position{{"top", "s1", "leaf-1"}, "nvl-1"}));
  EXPECT_THAT(found->left_out.lines(), ElementsAre(HasSubstr("another parent")));
}

TEST(Model, ACircleOfSwitchesEnds) {
  const auto found =
      read_model("switches: {a: {switches: [b]}, b: {switches: [a]}}\nblocks: [{switch: a, nodes: n1}]\n", {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.at("n1").network_nodes.back(), "a");
}

TEST(Sources, MachinesAreBounded) {
  std::string text;
  for (int i = 0; i < 3; ++i) text += fmt::format("n{}-[1-40000],a/b\n", i);
  const auto found = read_csv(text);
  EXPECT_EQ(found->positions.size(), kMaxMachines);
  EXPECT_THAT(found->left_out.lines(), testing::Contains(HasSubstr("more than")));
}

}  // namespace
}  // namespace espalier::topology
