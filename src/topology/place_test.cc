#include "topology/place.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "topology/random_cluster_test.h"

namespace espalier::topology {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> nodes(int from, int to) {
  std::vector<std::string> out;
  for (int i = from; i <= to; ++i) out.push_back(fmt::format("n{}", i));
  return out;
}

// Two spines with two leaves of 4 each.
Plan tree() {
  return {Model::tree,
          "",
          {{"root", {"s1", "s2"}, {}},
           {"s1", {"a", "b"}, {}},
           {"a", {}, nodes(1, 4)},
           {"b", {}, nodes(5, 8)},
           {"s2", {"c", "d"}, {}},
           {"c", {}, nodes(9, 12)},
           {"d", {}, nodes(13, 16)}}};
}

TEST(Mix, IsReadFromWordsAndLines) {
  EXPECT_THAT(*read_mix("16x2,8 # large ones first\n2x3"), ElementsAre(16, 16, 8, 2, 2, 2));
  for (const char* text : {"", "x", "0", "2x0", "2x", "-1", "2x99999999", "70000"})
    EXPECT_FALSE(read_mix(text)) << text;
}

TEST(Place, WithoutATopologyByName) {
  const auto placed = place(Plan{}, nodes(1, 16), {3, 3});
  EXPECT_THAT(placed.jobs[1].nodes, ElementsAre("n4", "n5", "n6"));
  EXPECT_THAT(placed.idle, SizeIs(10));
}

TEST(Place, InATreeTheSmallestSwitchThatHasRoom) {
  const auto placed = place(tree(), nodes(1, 16), {3, 3, 6, 1, 4});
  EXPECT_THAT(placed.jobs[0].nodes, ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(placed.jobs[1].nodes, ElementsAre("n5", "n6", "n7")) << "a leaf of its own";
  EXPECT_THAT(placed.jobs[2].nodes, ElementsAre("n9", "n10", "n11", "n12", "n13", "n14")) << "one spine";
  EXPECT_THAT(placed.jobs[3].nodes, SizeIs(1));
  EXPECT_NE(placed.jobs[3].nodes[0], "n15") << "the fullest leaf";
  EXPECT_THAT(placed.waiting, ElementsAre(4)) << "3 are idle";
}

TEST(Place, InBlocksOneOrNeighbours) {
  const Plan blocks{
      Model::block, "", {}, {{"b1", nodes(1, 4), {}}, {"b2", nodes(5, 8), {}}, {"b3", nodes(9, 12), {}}}, {4, 8}};
  const auto placed = place(blocks, nodes(1, 12), {3, 3, 6, 4});
  EXPECT_THAT(placed.jobs[0].nodes, ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(placed.jobs[1].nodes, ElementsAre("n5", "n6", "n7"));
  EXPECT_THAT(placed.waiting, ElementsAre(6)) << "no two neighbours have 6";
  EXPECT_THAT(placed.jobs[2].nodes, ElementsAre("n9", "n10", "n11", "n12"));
}

RC_GTEST_PROP(PlaceProperty, EveryNodeHasOneJobOrNone, ()) {
  World world(*rc::gen::arbitrary<std::uint32_t>(), *any_version());
  const auto request = world.request(true);
  Memory memory;
  const auto plan = plan_cluster(request, memory);
  std::vector<std::string> all;
  for (const auto& member : request.members) all.push_back(member.node_name);
  const auto mix = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 40));
  const auto placed = place(plan.main(), all, mix);
  RC_ASSERT(placed.jobs.size() + placed.waiting.size() == mix.size());
  std::multiset<std::string> seen(placed.idle.begin(), placed.idle.end());
  for (const auto& job : placed.jobs) seen.insert(job.nodes.begin(), job.nodes.end());
  RC_ASSERT(seen == std::multiset<std::string>(all.begin(), all.end()));
}

}  // namespace
}  // namespace espalier::topology
