#include "reconcile/check/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::reconcile {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;

CheckFinding called(const Names& peers, const Names& unreachable) {
  const auto verdict = unreachable.empty() ? CheckVerdict::Healthy : CheckVerdict::Drain;
  return {CheckKind::InstanceConnectivity, verdict, "called", peers, unreachable};
}
CheckFinding stress(CheckVerdict verdict) { return {CheckKind::InstanceStress, verdict, "stressed", {}, {}}; }

TEST(Judge, TheWorstFindingCounts) {
  using enum CheckVerdict;
  const auto judged = judge({{"a", {stress(Healthy)}},
                             {"b", {stress(Healthy), stress(NotChecked)}},
                             {"c", {stress(NotChecked), stress(Drain)}},
                             {"d", {stress(Replace), stress(Healthy)}},
                             {"e", {}}});
  EXPECT_EQ(judged.at("a").verdict, Healthy);
  EXPECT_EQ(judged.at("b").verdict, NotChecked);
  EXPECT_EQ(judged.at("c").verdict, Drain);
  EXPECT_EQ(judged.at("d").verdict, Replace);
  EXPECT_EQ(judged.at("e").verdict, NotChecked);
  EXPECT_THAT(judged.at("e").reason, HasSubstr("did not answer"));
}

TEST(Judge, ANodeThatNobodyReachesIsAtFaultAndTheOthersAreNot) {
  const auto judged = judge({{"a", {called({"b", "c", "d"}, {"d"})}},
                             {"b", {called({"a", "c", "d"}, {"d"})}},
                             {"c", {called({"a", "b", "d"}, {"d"})}},
                             {"d", {called({"a", "b", "c"}, {})}}});  // it calls, but does not answer
  EXPECT_EQ(judged.at("d").verdict, CheckVerdict::Replace);
  EXPECT_THAT(judged.at("d").reason, HasSubstr("3 of 3"));
  for (const char* node : {"a", "b", "c"}) EXPECT_EQ(judged.at(node).verdict, CheckVerdict::Healthy) << node;
}

TEST(Judge, ASinglePairKeepsBothFromJobs) {
  const auto judged = judge({{"a", {called({"b", "c", "d"}, {"b"})}},
                             {"b", {called({"a", "c", "d"}, {"a"})}},
                             {"c", {called({"a", "b", "d"}, {})}},
                             {"d", {called({"a", "b", "c"}, {})}}});
  EXPECT_EQ(judged.at("a").verdict, CheckVerdict::Drain);
  EXPECT_EQ(judged.at("b").verdict, CheckVerdict::Drain);
  EXPECT_EQ(judged.at("c").verdict, CheckVerdict::Healthy);
}

TEST(Judge, WhereMostFailNoMachineIsReplaced) {
  const auto judged = judge({{"a", {called({"b"}, {"b"})}}, {"b", {called({"a"}, {"a"})}}});
  EXPECT_EQ(judged.at("a").verdict, CheckVerdict::Drain);
  EXPECT_EQ(judged.at("b").verdict, CheckVerdict::Drain);
  EXPECT_THAT(judged.at("a").reason, HasSubstr("network"));
}

TEST(Judge, AWitnessIsNotJudged) {
  const auto judged = judge({{"a", {called({"b", "w"}, {"w"})}}, {"b", {called({"a", "w"}, {})}}});
  EXPECT_FALSE(judged.contains("w"));
  EXPECT_EQ(judged.at("a").verdict, CheckVerdict::Drain);  // one of two: not most
  EXPECT_EQ(judged.at("b").verdict, CheckVerdict::Healthy);
}

TEST(Judge, ReachabilityDoesNotHideAWorseFinding) {
  const auto judged = judge({{"a", {stress(CheckVerdict::Replace), called({"b", "c"}, {"b"})}},
                             {"b", {called({"a", "c"}, {})}},
                             {"c", {called({"a", "b"}, {})}}});
  EXPECT_EQ(judged.at("a").verdict, CheckVerdict::Replace);
  EXPECT_THAT(judged.at("a").reason, HasSubstr("stressed"));
}

}  // namespace
}  // namespace espalier::reconcile
