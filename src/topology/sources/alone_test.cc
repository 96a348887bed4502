#include "topology/sources/alone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/check.h"

namespace espalier::topology {
namespace {

using testing::HasSubstr;
using testing::Not;

Positions racks(int racks, int nodes, bool domains) {
  Positions out;
  for (int rack = 1; rack <= racks; ++rack)
    for (int i = 1; i <= nodes; ++i)
      out[fmt::format("n{}-{}", rack, i)] = {{"core", fmt::format("leaf-{}", rack)},
                                             domains ? fmt::format("nvl-{}", rack) : ""};
  return out;
}

ClusterPlan plan_of(const AloneRequest& request) {
  Memory memory;
  return plan_alone(request, memory);
}

TEST(Alone, ATreeWhereNothingIsKnownOfNvlink) {
  const auto plan = plan_of({.positions = racks(2, 4, false)});
  EXPECT_EQ(plan.main().model, Model::tree);
  EXPECT_THAT(plan.choice.because, HasSubstr("8 nodes have a known place"));
  EXPECT_THAT(render(plan).conf, HasSubstr("SwitchName=leaf-2 Nodes=n2-[1-4]"));
}

TEST(Alone, BlocksWhereEveryNodeHasADomain) {
  const auto plan = plan_of({.positions = racks(2, 18, true)});
  EXPECT_EQ(plan.main().model, Model::block);
  EXPECT_EQ(plan.main().blocks.size(), 2U);
  EXPECT_EQ(plan.nvlink_domains.size(), 2U);
}

TEST(Alone, ATreeForMixedAndForOldSlurm) {
  auto positions = racks(2, 18, true);
  EXPECT_EQ(plan_of({.positions = positions, .version = {23, 2}}).main().model, Model::tree);
  positions["x"] = {{"core", "leaf-1"}, ""};
  const auto plan = plan_of({.positions = positions});
  EXPECT_EQ(plan.main().model, Model::tree);
  EXPECT_THAT(plan.choice.because, HasSubstr("only 36 of 37"));
}

TEST(Alone, EveryNodeOfSlurmIsCoveredAndNoOther) {
  const auto plan = plan_of({.nodes = {"n1-1", "n2-1", "cpu-1"}, .positions = racks(2, 4, false)});
  const auto all = leaves(plan.main());
  EXPECT_EQ(all.size(), 3U);
  EXPECT_EQ(all.at("cpu-1"), kOffFabric);
}

TEST(Alone, NobodyKnownIsFlat) { EXPECT_EQ(plan_of({.nodes = {"a", "b"}}).main().model, Model::flat); }

TEST(Alone, HandWrittenSwitchesStay) {
  const auto kept = kept_positions(
      "SwitchName=hall Switches=rack-1,rack-2\nSwitchName=rack-1 Nodes=old[1-2]\nSwitchName=rack-2 Nodes=old[3-4]\n"
      "SwitchName=unplaced Nodes=n1-1\n");
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->size(), 4U);
  const auto plan = plan_of(
      {.nodes = {"n1-1", "n2-1", "old1", "old2", "old3", "old4"}, .positions = racks(2, 1, false), .kept = *kept});
  const auto text = render(plan).conf;
  EXPECT_THAT(text, HasSubstr("SwitchName=hall Switches=rack-[1-2]\n"));
  EXPECT_THAT(text, HasSubstr("SwitchName=rack-1 Nodes=old[1-2]\n"));
  // Read back, they are the same again; the common root is ours.
  EXPECT_EQ(kept_positions(text)->at("old3"), kept->at("old3"));
  EXPECT_EQ(kept_positions(text)->at("n1-1").network_nodes, (std::vector<std::string>{"core", "leaf-1"}));
}

TEST(Alone, AKeptFileSettlesAtOnce) {
  AloneRequest request{.nodes = {"n1-1", "n2-1", "old1", "old2"}, .positions = racks(2, 1, false)};
  request.kept = *kept_positions(
      "SwitchName=hall Nodes=old[1-2]\nSwitchName=later Nodes=n[1-2]-1\nSwitchName=all Switches=hall,later\n");
  const auto first = render(plan_of(request)).conf;
  request.kept = *kept_positions(first);
  EXPECT_EQ(render(plan_of(request)).conf, first);
}

TEST(Alone, WhatASourceKnowsIsNotKept) {
  const auto plan = plan_of({.positions = racks(2, 2, false), .kept = {{"n1-1", {{"elsewhere"}, ""}}}});
  EXPECT_THAT(render(plan).conf, Not(HasSubstr("elsewhere")));
}

}  // namespace
}  // namespace espalier::topology
