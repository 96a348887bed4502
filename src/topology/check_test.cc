#include <gmock/gmock.h>

#include "topology/fabric_text_test.h"

namespace espalier::topology {
namespace {

using testing::HasSubstr;

const std::vector<Member> kMembers = *read_fabric("n[1-4] ml.p5.48xlarge -\n");

Plan tree(std::vector<Switch> switches) { return {Model::tree, "", std::move(switches)}; }

std::string refusal(std::vector<Switch> switches) {
  const auto ok = check(tree(std::move(switches)), kMembers);
  return ok ? "" : ok.error().message;
}

TEST(Check, TakesATree) {
  EXPECT_EQ(refusal({{"top", {"a", "b"}, {}}, {"a", {}, {"n1", "n2"}}, {"b", {}, {"n3", "n4"}}}), "");
}

// The 24.11 column of what slurmctld refuses, and of what it takes and then loses nodes by.
TEST(Check, RefusesWhatSlurmRefuses) {
  const Switch all{"all", {}, {"n1", "n2", "n3", "n4"}};
  EXPECT_THAT(refusal({}), HasSubstr("no switch"));
  EXPECT_THAT(refusal({{"top", {"all"}, {}}, all, all}), HasSubstr("all is there twice"));
  EXPECT_THAT(refusal({{"top", {"all", "e"}, {}}, all, {"e", {}, {}}}), HasSubstr("e has neither"));
  EXPECT_THAT(refusal({{"top", {"all"}, {"n1"}}, all}), HasSubstr("top has both"));
  EXPECT_THAT(refusal({{"top", {"all", "gone"}, {}}, all}), HasSubstr("gone that does not exist"));
  EXPECT_THAT(refusal({{"top", {"all", "top"}, {}}, all}), HasSubstr("circle"));
  EXPECT_THAT(refusal({all, {"x", {"y"}, {}}, {"y", {"x"}, {}}}), HasSubstr("circle"));
  EXPECT_THAT(refusal({{"a", {}, {"n1", "n2"}}, {"b", {}, {"n3", "n4"}}}), HasSubstr("no common root"));
  EXPECT_THAT(refusal({{"top", {"x", "y"}, {}}, {"x", {"all"}, {}}, {"y", {"all"}, {}}, all}),
              HasSubstr("all hangs on x and on y"));
  EXPECT_THAT(refusal({{std::string(65, 'a'), {"all"}, {}}, all}), HasSubstr("no name for a switch"));
  EXPECT_THAT(refusal({{"top12345678901234567890", {"all"}, {}}, all}), HasSubstr("no name for a switch"));
  EXPECT_THAT(refusal({{"top,1", {"all"}, {}}, all}), HasSubstr("no name for a switch"));
}

TEST(Check, RefusesWhatLosesNodes) {
  EXPECT_THAT(refusal({{"top", {"a"}, {}}, {"a", {}, {"n1", "n2", "n3"}}}), HasSubstr("n4 is on no leaf"));
  EXPECT_THAT(refusal({{"a", {}, {"n1", "n2", "n3", "n4", "n5"}}}), HasSubstr("n5 on a is not in slurm.conf"));
  EXPECT_THAT(refusal({{"top", {"a", "b"}, {}}, {"a", {}, {"n1", "n2", "n3", "n4"}}, {"b", {}, {"n1"}}}),
              HasSubstr("n1 is on a and on b"));
}

TEST(Check, RefusesTreesDeeperThanSlurmReads) {
  std::vector<Switch> chain;
  for (int i = 0; i < 22; ++i) chain.push_back({"s" + std::to_string(i), {"s" + std::to_string(i + 1)}, {}});
  chain.push_back({"s22", {}, {"n1", "n2", "n3", "n4"}});
  EXPECT_THAT(refusal(chain), HasSubstr("deeper than 20"));
}

TEST(Check, TakesFlatWithoutSwitchesOnly) {
  EXPECT_TRUE(check({Model::flat, "", {}}, kMembers));
  EXPECT_FALSE(check({Model::flat, "", {{"a", {}, {"n1"}}}}, kMembers));
  EXPECT_FALSE(check({Model::block, "", {}}, kMembers));
}

}  // namespace
}  // namespace espalier::topology
