#include "topology/plan.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "model/instance_type.h"
#include "topology/fabric.h"
#include "topology/fabric_text_test.h"
#include "topology/switch_name.h"

namespace espalier::topology {

void showValue(const Member& member, std::ostream& out) {
  out << member.node_name << ' ' << member.instance_type << ' ';
  if (member.position) out << fmt::format("[{}]", fmt::join(member.position->network_nodes, ", "));
}

namespace {

using testing::HasSubstr;
using Members = std::vector<Member>;

const char* const kTypes[] = {"ml.p5.48xlarge", "ml.p6-b200.48xlarge", "ml.p6e-gb200.36xlarge",
                              "ml.c5.4xlarge",  "ml.g5.48xlarge",      "no-such-type"};

// Ids that contradict each other as soon as a few are drawn, and some that Slurm cannot carry.
rc::Gen<std::string> wild_id() {
  return rc::gen::element<std::string>("a", "b", "c", "nn-01", "nn-1", "nn-10", "", "unplaced", "fabric", "off-fabric",
                                       "x;y", "x:y", "[1-3]", "é", "Leaf", "leaf", std::string(80, 'z'),
                                       "d1234567890123456789012", std::string(81, 'z'));
}

std::optional<Position> wild_position() {
  if (*rc::gen::inRange(0, 5) == 0) return std::nullopt;
  return Position{*rc::gen::container<std::vector<std::string>>(wild_id()), ""};
}

rc::Gen<Member> wild_member() {
  return rc::gen::exec([] {
    return Member{fmt::format("p5-{}", *rc::gen::inRange(1, 60)), kTypes[*rc::gen::inRange(0, 6)], wild_position()};
  });
}

Members unique(Members members) {
  std::set<std::string> seen;
  std::erase_if(members, [&](const Member& m) { return !seen.insert(m.node_name).second; });
  return members;
}

Members wild_fabric() { return unique(*rc::gen::container<Members>(wild_member())); }

// A place in a fabric without contradictions: top, one of three spines, one of four leaves.
Position place(int spine, int leaf) {
  return {{"nn-top", fmt::format("nn-s{}", spine), fmt::format("nn-{}l{}", 9 - spine, leaf)}, ""};
}

std::optional<Position> some_place() {
  const auto spine = *rc::gen::inRange(0, 4), leaf = *rc::gen::inRange(0, 12);
  if (spine == 3) return std::nullopt;
  return place(spine, leaf);
}

Members true_fabric() {
  Members out;
  const auto count = *rc::gen::inRange(1, 30);
  for (int i = 1; i <= count; ++i) out.push_back({fmt::format("p5-{}", i), "ml.p5.48xlarge", some_place()});
  return out;
}

std::vector<std::string> leaf_order(const Plan& plan) {
  std::vector<std::string> out;
  for (const auto& line : plan.switches)
    if (line.switches.empty()) out.push_back(line.name);
  return out;
}

std::vector<std::string> only(std::vector<std::string> names, const std::set<std::string>& kept) {
  std::erase_if(names, [&](const auto& n) { return kept.count(n) == 0; });
  return names;
}

TEST(Plan, IsFlatWhenNothingIsCapable) {
  const auto made = plan(*read_fabric("c-1 ml.c5.4xlarge -\n"));
  EXPECT_EQ(made.model, Model::flat);
  EXPECT_EQ(render(made), "");
  EXPECT_EQ(plugin(made), "topology/default");
  EXPECT_EQ(plan({}).model, Model::flat);
}

TEST(Plan, CountsTheTypeOfAGroupWithoutNodes) {
  const auto members = *read_fabric("c-1 ml.c5.4xlarge -\n");
  const auto made = plan(members, {"ml.c5.4xlarge", "ml.p5.48xlarge"});
  EXPECT_EQ(made.model, Model::tree);
  EXPECT_EQ(leaves(made).at("c-1"), kOffFabric);
  EXPECT_TRUE(check(made, members));
  EXPECT_EQ(plan({}, {"ml.p5.48xlarge"}).model, Model::flat) << "a tree without nodes is fatal to slurmctld";
}

TEST(Plan, SaysWhy) {
  EXPECT_THAT(plan(*read_fabric("p5-1 ml.p5.48xlarge -\n")).because, HasSubstr("ml.p5.48xlarge"));
  EXPECT_THAT(draw(plan({})), HasSubstr("flat"));
}

TEST(Plan, BoundsTheDepth) {
  Position deep;
  for (int i = 0; i < 500; ++i) deep.network_nodes.push_back(fmt::format("level-{}", i));
  Position beside = deep;
  beside.network_nodes[494] = "other";
  const Members members = {{"p5-1", "ml.p5.48xlarge", deep}, {"p5-2", "ml.p5.48xlarge", beside}};
  const auto made = plan(members);
  EXPECT_TRUE(check(made, members));
  EXPECT_LE(made.switches.size(), kMaxLevels + 1);
}

TEST(Plan, HandlesManyMembers) {
  Members members;
  for (int i = 0; i < 20'000; ++i)
    members.push_back({fmt::format("p5-{}", i + 1), "ml.p5.48xlarge",
                       Position{{"top", fmt::format("s-{}", i / 256), fmt::format("l-{}", i / 16)}, ""}});
  const auto made = plan(members);
  EXPECT_EQ(leaves(made).size(), members.size());
  EXPECT_TRUE(check(made, members));
}

TEST(Render, IsNeverAWholeNumberOfPages) {
  constexpr std::size_t kPage = 4096;
  Plan made{Model::tree, "", {{kRoot, {"leaf"}, {}}, {"leaf", {}, {}}}};
  auto& nodes = made.switches[1].nodes;
  while (render(made).size() < kPage - 200) nodes.push_back(fmt::format("node-{:03}-x", nodes.size()));
  // One name grows byte by byte and pushes the file over the edge of the page.
  std::set<std::size_t> sizes;
  for (nodes.emplace_back(1, 'n'); *sizes.emplace(render(made).size()).first < kPage + 20;) nodes.back() += 'n';
  EXPECT_EQ(sizes.count(kPage - 1), 1U);
  EXPECT_EQ(sizes.count(kPage), 0U);
  EXPECT_EQ(sizes.count(kPage + 2), 1U) << "padded at the edge";
}

RC_GTEST_PROP(PlanProperty, WhateverIsSaidEveryNodeIsOnOneLeafAndSlurmTakesIt, ()) {
  const auto members = wild_fabric();
  const auto made = plan(members);
  const auto ok = check(made, members);
  if (!ok) RC_FAIL(ok.error().message);
  if (made.model == Model::flat) return;
  RC_ASSERT(leaves(made).size() == members.size());
  RC_ASSERT(made.switches.front().name == kRoot);
  for (const auto& line : made.switches) RC_ASSERT(line.name == kRoot || line.switches.size() != 1);
}

RC_GTEST_PROP(PlanProperty, TheOrderOfTheMembersDoesNotMatter, ()) {
  auto members = wild_fabric();
  const auto once = render(plan(members));
  std::ranges::reverse(members);
  RC_ASSERT(render(plan(members)) == once);
}

RC_GTEST_PROP(PlanProperty, ParentsStandBeforeChildren, ()) {
  std::set<std::string> announced = {kRoot};
  for (const auto& line : plan(wild_fabric()).switches) {
    RC_ASSERT(announced.count(line.name) == 1);
    announced.insert(line.switches.begin(), line.switches.end());
  }
}

RC_GTEST_PROP(PlanProperty, SpecialLeavesHoldWhatTheyAreFor, ()) {
  const auto members = wild_fabric();
  const auto at = leaves(plan(members));
  if (at.empty()) return;
  for (const auto& m : members) {
    const auto* type = find_instance_type(m.instance_type);
    const bool capable = type != nullptr && type->topology != TopologyClass::none;
    RC_ASSERT((at.at(m.node_name) == kOffFabric) == !capable);
    RC_ASSERT((at.at(m.node_name) == kUnplaced) == (capable && !is_located(m)));
  }
}

RC_GTEST_PROP(PlanProperty, NodesOfOneSwitchAndOnlyTheyShareALeaf, ()) {
  const auto members = wild_fabric();
  const auto at = leaves(plan(members));
  std::map<std::string, std::string> leaf_of;  // switch id → leaf
  std::map<std::string, std::string> id_of;
  for (const auto& m : members) {
    if (!is_located(m) || at.empty() || at.at(m.node_name) == kOffFabric) continue;
    const auto& id = m.position->network_nodes.back();
    RC_ASSERT(leaf_of.emplace(id, at.at(m.node_name)).first->second == at.at(m.node_name));
    RC_ASSERT(id_of.emplace(at.at(m.node_name), id).first->second == id);
  }
}

RC_GTEST_PROP(PlanProperty, AChangeOfOneMovesNobodyElse, ()) {
  auto members = wild_fabric();
  RC_PRE(!members.empty());
  const auto before = leaves(plan(members));
  const auto changed = *rc::gen::inRange<std::size_t>(0, members.size());
  members[changed].position = wild_position();
  const auto after = leaves(plan(members));
  for (const auto& [node, leaf] : before)
    if (node != members[changed].node_name) RC_ASSERT(after.at(node) == leaf);
}

RC_GTEST_PROP(PlanProperty, ChangesKeepTheOrderOfTheLeavesThatStay, ()) {
  auto members = true_fabric();
  for (int step = 0; step < 5; ++step) {
    const auto before = leaf_order(plan(members));
    const auto what = *rc::gen::inRange(0, 3);
    const auto at = *rc::gen::inRange<std::size_t>(0, members.size());
    if (what == 0) members.push_back({fmt::format("p5-{}", 100 + step), "ml.p5.48xlarge", some_place()});
    if (what == 1) members[at].position = some_place();
    if (what == 2 && members.size() > 1) members.erase(members.begin() + static_cast<std::ptrdiff_t>(at));
    const auto after = leaf_order(plan(members));
    RC_ASSERT(only(before, {after.begin(), after.end()}) == only(after, {before.begin(), before.end()}));
  }
}

RC_GTEST_PROP(PlanProperty, WhatSlurmShowsOfItIsSeenToAgree, ()) {
  const auto made = plan(wild_fabric());
  const auto shown = shown_by_slurm(made);
  const auto ok = compare(made, shown);
  if (!ok) RC_FAIL(ok.error().message);
  RC_ASSERT(*read_leaves(shown) == leaves(made));
}

RC_GTEST_PROP(PlanProperty, AnotherTopologyIsSeenToDiffer, ()) {
  const auto one = plan(true_fabric()), other = plan(true_fabric());
  RC_ASSERT(compare(one, shown_by_slurm(other)).has_value() == (one.switches == other.switches));
}

RC_GTEST_PROP(PlanProperty, EverySwitchIsDrawnOnce, ()) {
  const auto made = plan(wild_fabric());
  if (made.model == Model::flat) return;
  const auto text = draw(made);
  RC_ASSERT(std::ranges::count(text, '\n') == static_cast<std::ptrdiff_t>(made.switches.size()));
}

RC_GTEST_PROP(SwitchNamesProperty, DistinctIdsGetDistinctNamesThatSlurmCarries, ()) {
  SwitchNames names;
  std::set<std::string> ids, given;
  for (const auto& id :
       *rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(wild_id(), rc::gen::string<std::string>()))) {
    if (!ids.insert(id).second) continue;
    const auto name = names.name_for(id);
    RC_ASSERT(is_slurm_name(name));
    RC_ASSERT(given.insert(name).second);
  }
}

TEST(SwitchNames, AreTheSameInEveryPlan) {
  EXPECT_EQ(SwitchNames().name_for("nn-0123456789abcdef0"), "nn-0123456789abcdef0");
  const auto odd = SwitchNames().name_for("MF0;sw-01:MQM8700/U1");
  EXPECT_THAT(odd, HasSubstr("MF0-sw-01-MQM8700-U1."));
  SwitchNames names;
  names.name_for("something else");
  EXPECT_EQ(names.name_for("MF0;sw-01:MQM8700/U1"), odd);
  EXPECT_NE(names.name_for(odd), odd) << "an id may look like a name of ours";
}

}  // namespace
}  // namespace espalier::topology
