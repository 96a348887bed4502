#include <gmock/gmock.h>

#include "base/file.h"
#include "topology/compare.h"

namespace espalier::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr slurm::Version k2411{24, 11, 5}, k2605{26, 5, 5};

MATCHER_P2(IsMove, nodes, place, "") { return arg.nodes == nodes && arg.topology == place; }

Plan tree(std::vector<Switch> switches) { return {Model::tree, "", std::move(switches)}; }

const Plan kTree = tree({{"fabric", {"spine", "x"}, {}},
                         {"spine", {"a", "b"}, {}},
                         {"a", {}, {"n1", "n2"}},
                         {"b", {}, {"n3"}},
                         {"x", {}, {"n4"}}});
const Plan kBlocks = {Model::block, "", {}, {{"b1", {"n1", "n2"}, {}}, {"b2", {"n3"}, {}}}, {2, 4}};

ClusterPlan planned(std::vector<Plan> topologies, slurm::Version version = k2605) {
  ClusterPlan out;
  out.version = version;
  out.topologies = std::move(topologies);
  return out;
}

std::vector<Shown> shown(const std::vector<Plan>& topologies) {
  std::vector<Shown> out;
  for (const auto& plan : topologies) out.push_back({std::string(enum_name(plan.model)), out.empty(), plan});
  return out;
}

TEST(Steps, AreNoneWhenSlurmAgrees) {
  const auto steps = steps_to(planned({kTree, kBlocks}), shown({kTree, kBlocks}));
  EXPECT_THAT(steps.moves, IsEmpty());
  EXPECT_EQ(steps.reconfigure, "");
}

TEST(Steps, MoveANodeWithAllItsPlaces) {
  auto was = kTree;
  was.switches[2].nodes = {"n1"};
  was.switches[4].nodes = {"n2", "n4"};
  const auto steps = steps_to(planned({kTree, kBlocks}), shown({was, kBlocks}));
  EXPECT_EQ(steps.reconfigure, "");
  EXPECT_THAT(steps.moves, ElementsAre(IsMove("n2", "tree:a,block:b1")));
}

TEST(Steps, MoveNodesOfOnePlaceInOneCall) {
  auto was = kBlocks;
  was.blocks = {{"b1", {"n3"}, {}}, {"b2", {"n1", "n2"}, {}}};
  const auto steps = steps_to(planned({kTree, kBlocks}), shown({kTree, was}));
  EXPECT_THAT(steps.moves, ElementsAre(IsMove("n[1-2]", "tree:a,block:b1"), IsMove("n3", "tree:b,block:b2")));
}

TEST(Steps, GiveBackAMembershipThatAnotherHandTook) {
  auto was = kTree;
  was.switches[2].nodes = {"n1"};  // after `scontrol update NodeName=n2 Topology=block:b1`
  EXPECT_THAT(steps_to(planned({kTree, kBlocks}), shown({was, kBlocks})).moves,
              ElementsAre(IsMove("n2", "tree:a,block:b1")));
  auto too_much = kBlocks;
  too_much.blocks[1].nodes = {"n3", "n4"};
  EXPECT_THAT(steps_to(planned({kTree, kBlocks}), shown({kTree, too_much})).moves, ElementsAre(IsMove("n4", "tree:x")));
}

TEST(Steps, MakeALeafBelowAKnownSwitch) {
  auto wanted = kTree;
  wanted.switches[1].switches.push_back("new");
  wanted.switches[3].nodes.clear();
  wanted.switches[1].switches.erase(wanted.switches[1].switches.begin() + 1);
  wanted.switches[3] = {"new", {}, {"n3"}};
  const auto steps = steps_to(planned({wanted}), shown({kTree}));
  EXPECT_EQ(steps.reconfigure, "");
  EXPECT_THAT(steps.moves, ElementsAre(IsMove("n3", "tree:spine:new")));
}

TEST(Steps, MakeWholeBranchesBelowAKnownSwitch) {
  auto wanted = kTree;
  wanted.switches[0].switches.push_back("spine2");
  wanted.switches[4].nodes = {"n4"};
  wanted.switches.push_back({"spine2", {"c", "d"}, {}});
  wanted.switches.push_back({"c", {}, {"n5"}});
  wanted.switches.push_back({"d", {}, {"n6"}});
  auto was = kTree;
  was.switches[4].nodes = {"n4", "n5", "n6"};
  EXPECT_THAT(steps_to(planned({wanted}), shown({was})).moves,
              ElementsAre(IsMove("n5", "tree:fabric:spine2:c"), IsMove("n6", "tree:fabric:spine2:d")));
}

TEST(Steps, SayWhyAReconfigureIsNeeded) {
  const auto why = [](const ClusterPlan& plan, const std::vector<Shown>& now) {
    const auto steps = steps_to(plan, now);
    EXPECT_THAT(steps.moves, IsEmpty());
    return steps.reconfigure;
  };
  auto moved = kTree;
  moved.switches[0].switches = {"spine", "x", "b"};
  moved.switches[1].switches = {"a", "c"};
  moved.switches.push_back({"c", {}, {"n5"}});
  EXPECT_THAT(why(planned({moved}), shown({kTree})), HasSubstr("switch fabric has"));
  auto more = kBlocks;
  more.blocks.push_back({"b3", {"n4"}, {}});
  EXPECT_THAT(why(planned({kTree, more}), shown({kTree, kBlocks})), HasSubstr("block b3 is new"));
  auto swapped = kBlocks;
  std::swap(swapped.blocks[0], swapped.blocks[1]);
  EXPECT_THAT(why(planned({kTree, swapped}), shown({kTree, kBlocks})), HasSubstr("another place in the order"));
  EXPECT_THAT(why(planned({kTree, kBlocks}), shown({kTree})), HasSubstr("topology block is new"));
  EXPECT_THAT(why(planned({kBlocks}), shown({kTree, kBlocks})), HasSubstr("the default becomes block"));
  EXPECT_THAT(why(planned({moved}, k2411), shown({kTree})), HasSubstr("from the file alone"));
  EXPECT_THAT(why(planned({kTree}), shown({kTree, kBlocks})), HasSubstr("topology block is not planned"));
  auto extra = kTree;
  extra.switches[4].nodes = {"n4", "stranger"};
  EXPECT_THAT(why(planned({kTree}), shown({extra})), HasSubstr("stranger"));
}

TEST(Steps, LeadToThePlanFromWhatSlurmShows) {
  const auto now = *read_shown(read_file(ESPALIER_SHOWN_FOLDER "/topoconf_26.05.txt").value());
  auto wanted = planned({now[0].plan, now[1].plan, now[2].plan});
  EXPECT_THAT(differences(wanted, now), IsEmpty());
  wanted.topologies[1].blocks[0].nodes.insert(wanted.topologies[1].blocks[0].nodes.begin(), "g-1");
  wanted.topologies[1].blocks[1].nodes.erase(wanted.topologies[1].blocks[1].nodes.begin());
  EXPECT_THAT(steps_to(wanted, now).moves, ElementsAre(IsMove("g-1", "tree:leaf3,block:g-b1")));
}

TEST(KeepLeavesInUse, HoldsWhatANodeIsSavedOn) {
  const auto small = tree({{"fabric", {"a", "x"}, {}}, {"a", {}, {"n1", "n2"}}, {"x", {}, {"n3", "n4"}}});
  auto plan = planned({small});
  keep_leaves_in_use(plan, shown({kTree}));
  EXPECT_THAT(plan.main().switches.front().switches, ElementsAre("a", "x", "b"));
  EXPECT_THAT(differences(plan, shown({small})), IsEmpty());
  auto old = planned({small}, k2411);
  keep_leaves_in_use(old, shown({kTree}));
  EXPECT_EQ(old.main().switches, small.switches);
}

// Without the leaf beside it a spine carries no choice: nobody moves, but n1 may be saved as below it.
TEST(Steps, AReconfigureTakesASwitchThatSavedPlacesName) {
  auto was = kTree;
  was.switches[2].nodes = {"n1", "n2", "n4"};
  was.switches[4].nodes.clear();
  const auto next = tree({{"fabric", {"a", "b"}, {}}, {"a", {}, {"n1", "n2", "n4"}}, {"b", {}, {"n3"}}});
  ASSERT_THAT(differences(planned({next}), shown({was})), IsEmpty());
  EXPECT_THAT(steps_to(planned({next}), shown({was})).reconfigure, HasSubstr("n1 names a switch that goes"));
}

TEST(LostPlaces, AreThoseBelowASwitchThatGoes) {
  auto next = kTree;  // its spine has one leaf left and is no more
  next.switches = {{"fabric", {"a", "b", "x"}, {}}, {"a", {}, {"n1", "n2"}}, {"b", {}, {"n3"}}, {"x", {}, {"n4"}}};
  EXPECT_THAT(lost_places(planned({next}), shown({kTree})), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(lost_places(planned({kTree}), shown({kTree})), IsEmpty());
}

TEST(LostPlaces, AreAllOfATopologyThatGoes) {
  EXPECT_THAT(lost_places(planned({kTree}), shown({kTree, kBlocks})), ElementsAre("n1", "n2", "n3"));
  auto conf = shown({kTree});
  conf.front().name = "default";  // of a topology.conf: nothing can be set live
  EXPECT_THAT(lost_places(planned({kBlocks}), conf), IsEmpty());
}

}  // namespace
}  // namespace espalier::topology
