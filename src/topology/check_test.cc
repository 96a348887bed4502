#include "topology/check.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "topology/fabric_text_test.h"

namespace espalier::topology {
namespace {

using testing::HasSubstr;

const std::vector<Member> kMembers = *read_fabric("n[1-4] ml.p5.48xlarge -\n");
const std::vector<std::string> kNodes = {"n1", "n2", "n3", "n4"};
const Switch kAll{"all", {}, kNodes};
const Block kOne{"one", {"n1", "n2"}, {}}, kTwo{"two", {"n3", "n4"}, {}};

Plan tree(std::vector<Switch> switches) { return {Model::tree, "", std::move(switches)}; }
Plan blocks(std::vector<Block> list, std::vector<int> sizes) {
  return {Model::block, "", {}, std::move(list), std::move(sizes)};
}

// One row of the guide's table: what is wrong, and how each era takes it ('-' allowed, 'w' warning, 'F' fatal).
struct Row {
  Fault fault;
  Given given;
  const char* eras;  // 22.05, 23.11, 24.05, 25.05, 25.11
};

Given file(Plan plan, std::vector<std::string> nodes = kNodes) {
  Given out;
  out.topologies = {Shown{"t", true, std::move(plan)}};
  out.nodes = std::move(nodes);
  return out;
}

Given with_yaml(Given given) {
  given.yaml = true;
  return given;
}

Given with_stale_yaml(Given given) {
  given.yaml_beside = true;
  return given;
}

Given with_size(Given given, std::size_t bytes) {
  given.topologies.front().bytes = bytes;
  return given;
}

Given with_partition(Given given) {
  given.partitions["p"] = "gone";
  return given;
}

std::vector<Switch> chain(int length) {
  std::vector<Switch> out;
  for (int i = 0; i < length; ++i) out.push_back({fmt::format("s{}", i), {fmt::format("s{}", i + 1)}, {}});
  out.push_back({fmt::format("s{}", length), {}, kNodes});
  return out;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {Fault::duplicate_name, file(tree({{"top", {"all"}, {}}, kAll, kAll})), "FFFFF"},
      {Fault::duplicate_name, file(blocks({kOne, kOne, kTwo}, {2})), "FFFFF"},
      {Fault::unknown_node, file(tree({{"all", {}, {"n1", "n2", "n3", "n4", "n5"}}})), "wwwww"},
      {Fault::uncovered_node, file(tree({{"all", {}, {"n1", "n2", "n3"}}})), "wwwww"},
      {Fault::uncovered_node, file(blocks({kOne}, {2})), "wwwww"},
      {Fault::node_twice, file(tree({{"top", {"all", "b"}, {}}, kAll, {"b", {}, {"n1"}}})), "wwwww"},
      {Fault::empty_switch, file(tree({{"top", {"all", "e"}, {}}, kAll, {"e", {}, {}}})), "FFF--"},
      {Fault::switch_with_both, file(tree({{"top", {"all"}, {"n1"}}, {"all", {}, {"n2", "n3", "n4"}}})), "FFFFF"},
      {Fault::broken_tree, file(tree({{"top", {"all", "gone"}, {}}, kAll})), "FFFFF"},
      {Fault::broken_tree, file(tree({{"top", {"all", "top"}, {}}, kAll})), "FFFFF"},
      {Fault::broken_tree, file(tree({kAll, {"x", {"y"}, {}}, {"y", {"x"}, {}}})), "FFFFF"},
      {Fault::broken_tree, file(tree(chain(22))), "FFFFF"},
      {Fault::no_common_root, file(tree({{"a", {}, {"n1", "n2"}}, {"b", {}, {"n3", "n4"}}})), "wwwww"},
      {Fault::nothing, file(tree({})), "FFFFF"},
      {Fault::nothing, file(blocks({}, {2})), "FFFFF"},
      {Fault::nothing, Given{}, "FFFFF"},
      {Fault::short_block, file(blocks({{"one", {"n1", "n2", "n3"}, {}}, {"two", {"n4"}, {}}}, {3})), "-FF--"},
      // Names that are not in slurm.conf do not count towards the size.
      {Fault::short_block, file(blocks({kOne, {"two", {"n3", "n4"}, {}}}, {2}), {"n1", "n2", "n3"}), "-FF--"},
      {Fault::long_block, file(blocks({{"one", {"n1", "n2", "n3"}, {}}, {"two", {"n4"}, {}}}, {1})), "-F---"},
      {Fault::empty_block, file(blocks({kOne, kTwo, {"three", {}, {}}}, {2})), "-FF--"},
      {Fault::bad_block_sizes, file(blocks({kOne, kTwo}, {2, 6})), "--FFF"},
      {Fault::bad_block_sizes, file(blocks({kOne, kTwo}, {2, 3})), "--FFF"},
      {Fault::long_name, file(tree({{"top", {std::string(65, 'a')}, {}}, {std::string(65, 'a'), {}, kNodes}})),
       "--FFF"},
      {Fault::digits_in_name, file(tree({{"top12345678901234567890", {"all"}, {}}, kAll})), "FFFFF"},
      {Fault::strange_name, file(tree({{"top,1", {"all"}, {}}, kAll})), "FFFFF"},
      {Fault::two_parents, file(tree({{"top", {"x", "y"}, {}}, {"x", {"all"}, {}}, {"y", {"all"}, {}}, kAll})),
       "wwwww"},
      {Fault::no_block_plugin, file(blocks({kOne, kTwo}, {2})), "F----"},
      {Fault::too_many_topologies, with_yaml(file(tree({kAll}))), "www--"},
      {Fault::unknown_topology, with_partition(file(tree({kAll}))), "---FF"},
      {Fault::stale_yaml, with_stale_yaml(file(tree({kAll}))), "---ww"},
      {Fault::whole_pages, with_size(file(tree({kAll})), 8192), "wwwww"},
  };
  return all;
}

class Refusals : public testing::TestWithParam<std::size_t> {};

TEST_P(Refusals, AreThoseOfTheTable) {
  const auto& row = rows()[GetParam()];
  for (std::size_t era = 0; era < kEras.size(); ++era) {
    auto seen = Severity::allowed;
    for (const auto& problem : problems(row.given, kEras[era]))
      if (problem.fault == row.fault) seen = problem.severity;
    const char letter = seen == Severity::fatal ? 'F' : seen == Severity::warning ? 'w' : '-';
    EXPECT_EQ(letter, row.eras[era]) << enum_name(row.fault) << " in " << to_string(kEras[era]);
  }
}

INSTANTIATE_TEST_SUITE_P(Check, Refusals, testing::Range<std::size_t>(0, rows().size()), [](const auto& each) {
  return fmt::format("{:02}_{}", each.param, enum_name(rows()[each.param].fault));
});

TEST(Rules, AreComplete) {
  std::size_t count = 0;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Fault>>([&](auto each) {
    ++count;
    EXPECT_TRUE(std::ranges::any_of(rules(), [&](const Rule& rule) { return rule.fault == each.value; })) << each.name;
    EXPECT_TRUE(std::ranges::any_of(rows(), [&](const Row& row) { return row.fault == each.value; })) << each.name;
  });
  EXPECT_EQ(rules().size(), count);
}

TEST(Check, FindsNothingInARightFile) {
  const auto good_tree = file(tree({{"top", {"a", "b"}, {}}, {"a", {}, {"n1", "n2"}}, {"b", {}, {"n3", "n4"}}}));
  const auto good_blocks = file(blocks({kOne, kTwo}, {2, 4}));
  for (const auto& era : kEras) {
    EXPECT_TRUE(problems(good_tree, era).empty()) << to_string(era);
    EXPECT_EQ(problems(good_blocks, era).empty(), release_of(era).block) << to_string(era);
  }
}

TEST(Check, SaysTheLine) {
  Given given;
  given.topologies = *read_file_text("# mine\nSwitchName=top Switches=a\n\nSwitchName=a\n");
  const auto found = problems(given, {24, 11, 5});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 4);
  EXPECT_EQ(found[0].fault, Fault::empty_switch);
}

TEST(Check, RefusesPlacesThatSlurmctldSavedAndTheFileLost) {
  auto given = file(tree({{"top", {"a"}, {}}, {"a", {}, kNodes}}));
  given.saved = {{"n1", "t:a"}, {"n2", "t:top:a"}};
  EXPECT_TRUE(problems(given, {26, 5, 5}).empty());
  given.saved = {{"n1", "t:a,block:b1"}, {"n2", "t:gone"}};
  const auto found = problems(given, {26, 5, 5});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].text, HasSubstr("block:b1"));
  EXPECT_THAT(found[1].text, HasSubstr("t:gone"));
}

TEST(Check, NamesTheFirstProblemsOfAPlan) {
  const auto message = check(tree({{"top", {"a"}, {}}, {"a", {}, {"n1", "n2", "n3", "n5"}}}), kMembers).error().message;
  EXPECT_THAT(message, HasSubstr("n4 is on no leaf"));
  EXPECT_THAT(message, HasSubstr("n5 on a is not in slurm.conf"));
  EXPECT_THAT(message, HasSubstr("2 problems"));
}

TEST(Check, TakesFlatWithoutSwitchesOnly) {
  EXPECT_TRUE(check({Model::flat, "", {}}, kMembers));
  EXPECT_FALSE(check({Model::flat, "", {{"a", {}, {"n1"}}}}, kMembers));
  EXPECT_FALSE(check({Model::block, "", {}}, kMembers));
}

TEST(Check, IsBounded) {
  std::vector<Switch> many(3000, Switch{"same", {}, {"n1"}});
  EXPECT_LE(problems(file(tree(many)), {24, 11, 5}).size(), 1000U);
}

}  // namespace
}  // namespace espalier::topology
