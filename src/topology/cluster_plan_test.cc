#include "topology/cluster_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "topology/check.h"
#include "topology/compare.h"

namespace espalier::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr slurm::Version k2411{24, 11, 5}, k2605{26, 5, 5};

// A cluster as text: p5 on two leaves, g (UltraServers), c (CPU).
Request cluster(slurm::Version version, int p5, int ultra, int cpu) {
  Request out;
  out.version = version;
  const auto add = [&](const std::string& group, const char* type, int count, auto position) {
    for (int i = 1; i <= count; ++i)
      out.members.push_back({fmt::format("{}-{}", group, i), type, position(i), group, i});
    out.groups.push_back({group, group, {type}});
  };
  if (p5 >= 0)
    add("p5", "ml.p5.48xlarge", p5,
        [](int i) { return std::optional(Position{{"nn-0", i % 2 == 0 ? "nn-2" : "nn-1"}, ""}); });
  if (ultra >= 0)
    add("g", "ml.p6e-gb200.36xlarge", ultra,
        [](int i) { return std::optional(Position{{"nn-0", "nn-9"}, i <= 18 ? "d1" : "d2"}); });
  if (cpu >= 0) add("c", "ml.c5.4xlarge", cpu, [](int) { return std::optional<Position>(); });
  return out;
}

ClusterPlan planned(const Request& request) {
  Memory memory;
  auto out = plan_cluster(request, memory);
  const auto ok = check(out, request.members);
  EXPECT_TRUE(ok) << ok.error().message;
  return out;
}

TEST(ClusterPlan, HasSeveralTopologiesWhereSlurmCan) {
  const auto plan = planned(cluster(k2605, 4, 36, 2));
  ASSERT_EQ(plan.topologies.size(), 3U);
  EXPECT_EQ(plan.main().model, Model::tree);
  EXPECT_EQ(plan.partitions, (std::map<std::string, Model>{{"g", Model::block}, {"c", Model::flat}}));
  const auto files = render(plan);
  EXPECT_EQ(files.conf, "");
  EXPECT_EQ(files.plugin, "topology/tree");
  EXPECT_EQ(files.param, "SwitchAsNodeRank");
  EXPECT_THAT(files.yaml, HasSubstr("- topology: tree\n  cluster_default: true\n"));
  EXPECT_THAT(files.yaml, HasSubstr("- topology: block\n  cluster_default: false\n"));
  EXPECT_THAT(files.yaml, HasSubstr("    - block: \"g-b2\"\n      nodes: \"g-[19-36]\"\n"));
  EXPECT_THAT(files.yaml, HasSubstr("  flat: true\n"));
}

TEST(ClusterPlan, HasOneTopologyWhereSlurmHasOne) {
  const auto plan = planned(cluster(k2411, 4, 36, 2));
  EXPECT_EQ(plan.topologies.size(), 1U);
  EXPECT_THAT(plan.partitions, IsEmpty());
  const auto files = render(plan);
  EXPECT_EQ(files.yaml, "");
  EXPECT_THAT(files.conf, HasSubstr("SwitchName=off-fabric Nodes=c-[1-2]\n"));
  EXPECT_THAT(files.conf, HasSubstr("Nodes=g-[1-36]\n"));
}

TEST(ClusterPlan, HasBlocksWithPaddingOnOldSlurm) {
  const auto plan = planned(cluster(k2411, -1, 35, 2));
  EXPECT_EQ(plan.main().model, Model::block);
  const auto files = render(plan);
  EXPECT_THAT(files.conf, HasSubstr("BlockName=g-b2 Nodes=g-[19-35],pad_g-b2_1\n"));
  EXPECT_THAT(files.conf, HasSubstr("BlockName=off-fabric Nodes=c-[1-2],pad_off-fabric_[1-16]\n"));
  EXPECT_THAT(files.conf, HasSubstr("BlockSizes=18,36,72\n"));
  EXPECT_EQ(files.plugin, "topology/block");
  EXPECT_EQ(files.param, "");
  EXPECT_EQ(padding(plan).size(), 17U);
}

TEST(ClusterPlan, RanksFollowTheFabricWhereTheVersionCan) {
  const auto param = [](slurm::Version version, int p5, int ultra) {
    return render(planned(cluster(version, p5, ultra, -1))).param;
  };
  EXPECT_EQ(param({22, 5, 0}, 2, -1), "");
  EXPECT_EQ(param({23, 2, 0}, 2, -1), "SwitchAsNodeRank");
  EXPECT_EQ(param({25, 5, 0}, -1, 18), "");
  EXPECT_EQ(param({25, 11, 3}, -1, 18), "BlockAsNodeRank");
}

TEST(ClusterPlan, CountsLevelsIn2311) {
  const auto conf = render(planned(cluster({23, 11, 0}, -1, 72, -1))).conf;
  EXPECT_THAT(conf, HasSubstr("BlockLevels=0,1,2\n"));
}

TEST(ClusterPlan, IsFlatWithoutAFile) {
  for (const auto& request : {cluster(k2605, -1, -1, 3), cluster(k2605, 0, 0, 0), cluster(k2411, -1, -1, 3)}) {
    const auto files = render(planned(request));
    EXPECT_EQ(files.conf + files.yaml, "");
    EXPECT_EQ(files.plugin, request.version == k2605 ? "topology/flat" : "topology/default");
  }
}

TEST(ClusterPlan, LeavesAPartitionWithoutNodesToTheDefault) {
  const auto plan = planned(cluster(k2605, 4, 0, 2));
  EXPECT_EQ(plan.choice.partitions.at("g").model, Model::block);
  EXPECT_EQ(plan.partitions.count("g"), 0U);
}

TEST(ClusterPlan, TakesATreeWhenPaddingDoesNotFitIntoSlurmsNodeTable) {
  Request request;
  request.version = k2411;
  for (int i = 0; i < 8000; ++i)
    request.members.push_back(
        {fmt::format("n{}", i), "ml.p6e-gb200.36xlarge", Position{{"nn-1", "nn-2"}, fmt::format("d{}", i / 2)}});
  const auto plan = planned(request);
  EXPECT_EQ(plan.main().model, Model::tree);
  EXPECT_THAT(plan.choice.because, HasSubstr("room for 65536: a tree serves"));
}

TEST(ClusterPlan, KeepsNamesThroughAnUpgrade) {
  auto request = cluster(k2411, -1, 36, -1);
  Memory memory;
  const auto before = plan_cluster(request, memory);
  request.version = k2605;
  const auto after = plan_cluster(request, memory);
  EXPECT_EQ(after.main().blocks.size(), before.main().blocks.size());
  EXPECT_EQ(leaves(after.main()), leaves(before.main()));
  const auto tree = cluster(k2411, 8, -1, 2);
  auto newer = tree;
  newer.version = k2605;
  EXPECT_EQ(planned(tree).main().switches, planned(newer).main().switches);
}

TEST(ClusterPlan, TellsEveryPlaceOfANode) {
  const auto at = places(planned(cluster(k2605, 4, 36, 2)));
  EXPECT_EQ(at.at("g-20"), "tree:nn-9,block:g-b2");
  EXPECT_EQ(at.at("p5-1"), "tree:nn-1");
  EXPECT_EQ(at.at("c-1"), "tree:off-fabric");
}

TEST(ClusterPlan, ListsTheNodesOfEveryNvlinkDomain) {
  EXPECT_EQ(planned(cluster(k2411, 2, 20, -1)).nvlink_domains.at("d2"), (std::vector<std::string>{"g-19", "g-20"}));
}

TEST(ClusterPlan, FollowsTheUser) {
  auto request = cluster(k2605, 4, 36, 2);
  request.preference = Preference::off;
  EXPECT_EQ(planned(request).main().model, Model::flat);
  request.preference = Preference::block;
  const auto plan = planned(request);
  EXPECT_EQ(plan.main().model, Model::block);
  EXPECT_THAT(plan.main().blocks.back().nodes, ElementsAre("c-1", "c-2", "p5-1", "p5-2", "p5-3", "p5-4"));
  EXPECT_THAT(render(plan).yaml, Not(HasSubstr("tree")));
}

}  // namespace
}  // namespace espalier::topology
