#include "topology/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace espalier::topology {
namespace {

using testing::HasSubstr;

// Two spines of two leaves of two nodes: n0 n1 | n2 n3 || n4 n5 | n6 n7.
Positions eight() {
  Positions out;
  for (int i = 0; i < 8; ++i)
    out[fmt::format("n{}", i)] = {{"core", fmt::format("s{}", i / 4), fmt::format("l{}", i / 2)},
                                  fmt::format("d{}", i / 2)};
  return out;
}

TEST(Score, OneLeafIsTwoHops) {
  const auto found = score(eight(), {{"1", {"n0", "n1"}}}, {}).jobs[0];
  EXPECT_EQ(found.leaves, 1U);
  EXPECT_EQ(found.leaf_crossings, 0U);
  EXPECT_EQ(found.domains, 1U);
  EXPECT_DOUBLE_EQ(found.hops, 2);
}

TEST(Score, TwoMoreForEveryLevel) {
  EXPECT_DOUBLE_EQ(score(eight(), {{"1", {"n0", "n2"}}}, {}).jobs[0].hops, 4);
  EXPECT_DOUBLE_EQ(score(eight(), {{"1", {"n0", "n4"}}}, {}).jobs[0].hops, 6);
  EXPECT_DOUBLE_EQ(score(eight(), {{"1", {"n0", "n1", "n2"}}}, {}).jobs[0].hops, (2 + 4 + 4) / 3.0);
}

TEST(Score, RanksThatAlternateCrossAtEveryStep) {
  EXPECT_EQ(score(eight(), {{"1", {"n0", "n2", "n1", "n3"}}}, {}).jobs[0].leaf_crossings, 3U);
  EXPECT_EQ(score(eight(), {{"1", {"n0", "n1", "n2", "n3"}}}, {}).jobs[0].leaf_crossings, 1U);
}

TEST(Score, LeastLeavesFillsTheLargest) {
  auto truth = eight();
  truth["n8"] = truth["n0"];
  const auto found = score(truth, {{"1", {"n2", "n3", "n4"}}}, {}).jobs[0];
  EXPECT_EQ(found.leaves, 2U);
  EXPECT_EQ(found.least_leaves, 1U);
}

TEST(Score, SegmentsAreWithinADomain) {
  const auto found = score(eight(), {{"1", {"n0"}}}, {"n1", "n2", "n3", "n4", "n6"}, {1, 2});
  EXPECT_EQ(found.segments[0].free, 5U);
  EXPECT_EQ(found.segments[1].free, 1U);
  EXPECT_EQ(found.segments[1].stranded, 3U);
  EXPECT_DOUBLE_EQ(found.fragmentation, 0.2);
}

TEST(Score, NodesNobodyKnowsAreAlone) {
  const auto found = score(eight(), {{"1", {"n0", "x", "y"}}}, {}).jobs[0];
  EXPECT_EQ(found.leaves, 3U);
  EXPECT_EQ(found.domains, 3U);
}

TEST(Score, DrawsBothSides) {
  const auto good = score(eight(), {{"1", {"n0", "n1"}}}, {"n2"}), bad = score(eight(), {{"1", {"n0", "n4"}}}, {"n2"});
  EXPECT_THAT(draw(bad, good), HasSubstr("mean hops between its nodes   6.00                  2.00"));
  EXPECT_THAT(draw(good), HasSubstr("jobs in one NVLink domain     100 %"));
}

TEST(Jobs, AreReadFromSqueue) {
  const auto jobs = read_jobs("12 n[0-2]\n\n13 n7 # one\n");
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->at(0).nodes.size(), 3U);
  EXPECT_THAT(read_jobs("12 n0\n13\n").error().message, HasSubstr("line 2"));
}

RC_GTEST_PROP(Score, BoundsHold, ()) {
  PlacedJob job{"1", {}};
  for (int i = 0; i < 8; ++i)
    if (*rc::gen::inRange(0, 2) == 1) job.nodes.push_back(fmt::format("n{}", i));
  const auto found = score(eight(), {job}, {}).jobs[0];
  RC_ASSERT(found.least_leaves <= found.leaves);
  RC_ASSERT(found.leaves <= found.nodes);
  RC_ASSERT(found.nodes == 0 || found.leaf_crossings + 1 == found.leaves);  // in order of names: no better order
  RC_ASSERT(found.nodes < 2 || (found.hops >= 2 && found.hops <= 6));
}

}  // namespace
}  // namespace espalier::topology
