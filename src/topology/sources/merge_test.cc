#include "topology/sources/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace espalier::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Located located(Positions positions, std::set<std::string> doubtful = {}) {
  Located out;
  out.positions = std::move(positions);
  out.doubtful = std::move(doubtful);
  return out;
}

TEST(Names, ReadsATable) {
  const auto names = read_names("# id name\ni-1 p5-1\ni-2,p5-2\n\ni-3\tp5-3 # third\n");
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(names->at("i-2"), "p5-2");
  EXPECT_EQ(names->at("i-3"), "p5-3");
  EXPECT_THAT(read_names("i-1 p5-1\ni-2\n").error().message, HasSubstr("line 2"));
}

TEST(Names, TwoIdsOfOneMachine) {
  const auto out =
      rename(located({{"i-1", {{"a"}, ""}}, {"i-2", {{"b"}, ""}}, {"x", {{"c"}, ""}}}), {{"i-1", "n1"}, {"i-2", "n1"}});
  EXPECT_EQ(out.positions.at("n1").network_nodes, std::vector<std::string>{"a"});
  EXPECT_TRUE(out.positions.contains("x"));
  EXPECT_THAT(out.left_out.lines(), ElementsAre(HasSubstr("another id")));
}

TEST(Merge, TreeFromOneDomainFromAnother) {
  const auto out =
      merge({{"ib", located({{"n1", {{"core", "leaf"}, ""}}})}, {"nvlink", located({{"n1", {{}, "nvl"}}})}});
  EXPECT_EQ(out.positions.at("n1"), (Position{{"core", "leaf"}, "nvl"}));
  EXPECT_THAT(out.left_out.lines(), IsEmpty());
}

TEST(Merge, TheFirstCountsUnlessItDoubts) {
  const auto a = located({{"n1", {{"a"}, ""}}}), b = located({{"n1", {{"b"}, ""}}});
  auto doubting = a;
  doubting.doubtful = {"n1"};
  EXPECT_EQ(merge({{"a", a}, {"b", b}}).positions.at("n1").network_nodes[0], "a");
  EXPECT_THAT(merge({{"a", a}, {"b", b}}).left_out.lines(), ElementsAre(HasSubstr("by b differ")));
  EXPECT_EQ(merge({{"a", doubting}, {"b", b}}).positions.at("n1").network_nodes[0], "b");
  EXPECT_TRUE(merge({{"a", doubting}}).doubtful.contains("n1"));
}

TEST(LastKnown, FillsWhatIsMissingOrDoubtful) {
  const Positions last = {
      {"gone", {{"a"}, "d"}}, {"half", {{"a"}, "d"}}, {"moved", {{"a"}, ""}}, {"unsure", {{"a"}, ""}}};
  const auto out = keep_last_known(
      located({{"half", {{"b"}, ""}}, {"moved", {{"b"}, ""}}, {"unsure", {{"b"}, ""}}, {"new", {{"c"}, ""}}},
              {"unsure"}),
      last);
  EXPECT_EQ(out.positions.at("gone"), last.at("gone"));
  EXPECT_EQ(out.positions.at("half"), (Position{{"b"}, "d"}));
  EXPECT_EQ(out.positions.at("moved").network_nodes[0], "b");
  EXPECT_EQ(out.positions.at("unsure").network_nodes[0], "a");
  EXPECT_EQ(out.positions.size(), 5U);
  EXPECT_THAT(out.left_out.lines(), ElementsAre(HasSubstr("unsure: ")));
}

Positions random_positions() {
  Positions out;
  const int spines = *rc::gen::inRange(1, 4), leaves = *rc::gen::inRange(1, 4), nodes = *rc::gen::inRange(1, 40);
  for (int i = 0; i < nodes; ++i) {
    const int spine = i % spines, leaf = (i / spines) % leaves;
    out[fmt::format("n{}", i)] = {{"core", fmt::format("s{}", spine), fmt::format("l{}-{}", spine, leaf)},
                                  fmt::format("d{}-{}", spine, leaf)};
  }
  return out;
}

// However a provider calls its switches, as long as the machines hang as before, nothing changes.
RC_GTEST_PROP(KeepNames, RenamedSwitchesKeepTheirNames, ()) {
  const auto last = random_positions();
  const auto suffix = *rc::gen::element<std::string>("-new", "-2");
  auto now = last;
  for (auto& [node, position] : now) {
    for (auto& name : position.network_nodes) name += suffix;
    position.domain += suffix;
  }
  RC_ASSERT(keep_names(now, last) == last);
}

RC_GTEST_PROP(KeepNames, MovesBetweenKnownSwitchesAreKept, ()) {
  const auto last = random_positions();
  auto now = last;
  const auto from = *rc::gen::elementOf(last), to = *rc::gen::elementOf(last);
  now[from.first] = to.second;
  RC_ASSERT(keep_names(now, last) == now);
}

TEST(KeepNames, ANewSwitchForAFewKeepsItsOwnName) {
  const Positions last = {{"a", {{"l1"}, ""}}, {"b", {{"l1"}, ""}}, {"c", {{"l1"}, ""}}};
  Positions now = last;
  now["c"].network_nodes = {"l2"};
  EXPECT_EQ(keep_names(now, last), now);
}

}  // namespace
}  // namespace espalier::topology
