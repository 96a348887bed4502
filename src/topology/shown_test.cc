// tests/golden/shown holds what scontrol of real Slurm 24.11.5 and 26.05.5 printed (tests/slurm/accepts.sh).
#include "topology/shown.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "base/file.h"
#include "topology/cluster_plan.h"

namespace espalier::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string shown(const std::string& name) {
  return read_file(std::string(ESPALIER_SHOWN_FOLDER "/") + name).value_or("not there");
}

TEST(ReadShown, ReadsTheBlocksOfOldSlurm) {
  const auto read = read_shown(shown("blocks_24.11.txt"));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 1U);
  const auto& plan = read->front().plan;
  EXPECT_EQ(plan.model, Model::block);
  ASSERT_EQ(plan.blocks.size(), 4U);
  EXPECT_EQ(plan.blocks[1].name, "g-b2");
  EXPECT_EQ(plan.blocks[1].nodes.size(), 18U);
  EXPECT_THAT(plan.blocks[2].nodes.front(), HasSubstr("pad_"));
}

TEST(ReadShown, ReadsAllTopologiesOfNewSlurm) {
  const auto read = read_shown(shown("topoconf_26.05.txt"));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 3U);
  const auto& tree = read->at(0);
  EXPECT_EQ(tree.name, "tree");
  EXPECT_TRUE(tree.cluster_default);
  EXPECT_THAT(tree.plan.switches[0].switches, ElementsAre("spine", "leaf3", "unplaced", "off-fabric"));
  EXPECT_THAT(tree.plan.switches[3].nodes, ElementsAre("p-1", "p-3", "p-4"));
  EXPECT_TRUE(tree.plan.switches[2].nodes.empty()) << "emptied by a move";
  EXPECT_THAT(tree.plan.switches.back().nodes, ElementsAre("p-2")) << "made by a move";
  EXPECT_THAT(read->at(1).plan.block_sizes, ElementsAre(18, 36));
  EXPECT_EQ(read->at(1).plan.blocks[1].nodes.front(), "g-1");
  EXPECT_EQ(read->at(2).plan.model, Model::flat);
  EXPECT_FALSE(read->at(2).cluster_default);
}

TEST(ReadShown, TakesNothingForFlat) {
  for (const auto* text : {"", "\n"}) EXPECT_TRUE(read_shown(text)->empty());
}

TEST(ReadShown, TakesATopologyThatIsNothingForFlat) {
  const auto read = read_shown(
      "%YAML 1.1\n---\n- topology: default\n  cluster_default: false\n  block: {}\n  flat: {}\n  tree: {}\n...\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().plan.model, Model::flat);
}

TEST(ReadShown, RefusesWhatSlurmDoesNotPrint) {
  for (const auto* text :
       {"slurm_load_topo error: Unable to contact slurm controller\n", "SwitchName=a Nodes=n[1-\n", "- topology: t\n",
        "- topology: t\n  tree:\n   switches:\n   - switch: a\n     nodes: n[1-\n", "- [", "[]]",
        "SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n", "- topology: t\n  cluster_default: maybe\n  flat: true\n"})
    EXPECT_FALSE(read_shown(text)) << text;
}

TEST(ReadFile, TakesKeysInAnyCaseAndComments) {
  const auto read =
      read_file_text("# ours\n switchname=a nodes=n[1-2] linkspeed=10 # fast\n\nSWITCHNAME=b Switches=a\n");
  ASSERT_TRUE(read) << read.error().message;
  const auto& file = read->front();
  EXPECT_THAT(file.lines, ElementsAre(2, 4));
  EXPECT_THAT(file.plan.switches[0].nodes, ElementsAre("n1", "n2"));
  EXPECT_THAT(file.plan.switches[1].switches, ElementsAre("a"));
}

TEST(ReadFile, ReadsBlockSizes) {
  const auto read = read_file_text("BlockName=b Nodes=n[1-4]\nBlockSizes=2,4\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->front().plan.block_sizes, ElementsAre(2, 4));
  EXPECT_FALSE(read_file_text("BlockName=b Nodes=n1\nBlockSizes=x\n"));
}

TEST(Normal, LeavesOutWhatHoldsNobody) {
  const Plan raw{Model::tree,
                 "",
                 {{"fabric", {"top", "old"}, {}},
                  {"top", {"a", "x"}, {}},
                  {"a", {"a1"}, {}},
                  {"a1", {}, {"n1"}},
                  {"x", {}, {"n2"}},
                  {"old", {"gone"}, {}},
                  {"gone", {}, {}}}};
  const Plan plain{Model::tree, "", {{"fabric", {"a1", "x"}, {}}, {"a1", {}, {"n1"}}, {"x", {}, {"n2"}}}};
  EXPECT_EQ(normal(raw).switches, plain.switches);
  EXPECT_EQ(normal(plain).switches, plain.switches);
}

TEST(Normal, EndsOnCircles) {
  const Plan circle{Model::tree, "", {{"r", {"a"}, {}}, {"a", {"b"}, {}}, {"b", {"a"}, {}}}};
  EXPECT_LE(normal(circle).switches.size(), 3U);
}

RC_GTEST_PROP(ReadProperty, AnyTextIsReadOrRefused, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "SwitchName=", "BlockName=", "a", "Nodes=", "n[1-2]", "[", "\n", " ", "- topology: t\n", "  tree:\n",
      "   switches:\n", "   - switch: s\n", "{}", ":", "Switches=a", "BlockSizes=2", "\"", "%"));
  std::string text;
  for (const auto& word : words) text += word;
  if (const auto read = read_shown(text); read)
    for (const auto& each : *read) normal(each.plan);
  read_file_text(text);
}

}  // namespace
}  // namespace espalier::topology
