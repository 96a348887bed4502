// tests/golden/shown holds what `scontrol show topology` of a real Slurm 24.11.5 printed (tests/slurm/accepts.sh).
#include <gmock/gmock.h>

#include "base/file.h"
#include "topology/fabric_text_test.h"

namespace espalier::topology {
namespace {

using testing::HasSubstr;

std::string shown(const std::string& name) {
  return read_file(std::string(ESPALIER_SHOWN_FOLDER "/") + name).value_or("not there");
}

constexpr std::string_view kFabric =
    "p5-[1-2] ml.p5.48xlarge nn-0 nn-1 nn-2a\n"
    "p5-[3-4] ml.p5.48xlarge nn-0 nn-1 nn-2b\n"
    "p5-5 ml.p5.48xlarge -\n"
    "cpu-[1-2] ml.c5.4xlarge -\n";

TEST(Compare, AgreesWithWhatSlurmShows) {
  const auto ok = compare(plan(*read_fabric(kFabric)), shown("cpu_and_gpu.txt"));
  EXPECT_TRUE(ok) << ok.error().message;
}

TEST(Compare, NamesTheFirstDifferences) {
  auto members = *read_fabric(kFabric);
  members.push_back({"p5-6", "ml.p5.48xlarge", Position{{"nn-0", "nn-1", "nn-2b"}, ""}});
  const auto moved = compare(plan(members), shown("cpu_and_gpu.txt"));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::kConflict);
  EXPECT_THAT(moved.error().message, HasSubstr("switch nn-2b has nodes 'p5-[3-4]', planned are nodes 'p5-[3-4,6]'"));

  const auto other = compare(plan(*read_fabric("p5-1 ml.p5.48xlarge x\n")), shown("cpu_and_gpu.txt"));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("switch x is missing"));
  EXPECT_THAT(other.error().message, HasSubstr("more"));
}

TEST(Compare, TakesSwitchesOfTheSameNodesApart) {
  const Plan tree{Model::tree, "", {{"fabric", {"a", "b"}, {}}, {"a", {}, {"n1"}}, {"b", {}, {"n2"}}}};
  auto swapped = tree;
  std::swap(swapped.switches[1].nodes, swapped.switches[2].nodes);
  EXPECT_FALSE(compare(tree, shown_by_slurm(swapped)));
  EXPECT_TRUE(compare(tree, shown_by_slurm(tree)));
}

TEST(Compare, WantsNothingForFlat) {
  EXPECT_TRUE(compare(plan({}), ""));
  EXPECT_TRUE(compare(plan({}), "\n"));
  EXPECT_FALSE(compare(plan({}), shown("cpu_and_gpu.txt")));
  EXPECT_FALSE(compare(plan(*read_fabric(kFabric)), ""));
}

TEST(ReadLeaves, ReadsLongLines) {
  const auto at = read_leaves(shown("long_lines.txt"));
  ASSERT_TRUE(at) << at.error().message;
  EXPECT_EQ(at->size(), 700U);
  EXPECT_EQ(at->at("p5-599"), "odd");
  EXPECT_EQ(at->at("p5-600"), "even");
  EXPECT_EQ(at->at("p5-601"), "unplaced");
}

TEST(ReadLeaves, SaysWhenLinesAreCut) {
  const auto text = shown("long_lines.txt");
  const auto cut = text.substr(0, text.find("SwitchName=odd") + 100);
  const auto at = read_leaves(cut);
  ASSERT_FALSE(at);
  EXPECT_THAT(at.error().message, HasSubstr("SLURM_TOPO_LEN"));
  EXPECT_FALSE(read_leaves("slurm_load_topo error: Unable to contact slurm controller\n"));
}

}  // namespace
}  // namespace espalier::topology
