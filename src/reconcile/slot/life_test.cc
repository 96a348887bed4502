// Walks the whole life table, and holds docs/guide/life.md to it.
#include "reconcile/slot/life.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/file.h"
#include "base/json.h"

namespace espalier::reconcile {
namespace {

template <typename E>
std::set<E> all_of() {
  std::set<E> all;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) { all.insert(d.value); });
  return all;
}

std::set<SlotState> reachable_from(SlotState start) {
  std::set<SlotState> reached{start};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const Edge& edge : life())
      if (reached.contains(edge.from)) reached.insert(edge.to);
  }
  return reached;
}

// What ends the states that have no deadline. A new state needs a deadline or a line here.
const std::map<SlotState, std::string> kEndsBy = {
    {SlotState::Wanted, "its turn, or the user"},
    {SlotState::Launching, "the provider's answer, which always comes; asked again with the same key after a restart"},
    {SlotState::Ready, "the user, or the machine's end"},
    {SlotState::Checking, "the machine's answer, or the time that it may take"},
    {SlotState::Draining, "the last job's end, for which it waits as long as that takes, or the machine's"},
    {SlotState::Terminating, "the provider's answer; asked again when it fails"},
    {SlotState::Backoff, "its delay, or the user"},
    {SlotState::Gone, "nothing: the slot is dropped"},
};

std::string cause_text(Cause cause) {
  std::string name(enum_name(cause).substr(1));
  name.front() = static_cast<char>(std::tolower(name.front()));
  return name;
}

// As docs/guide/life.md has to have it.
std::string diagram() {
  std::string text = "```mermaid\nstateDiagram-v2\n    [*] --> Wanted\n";
  for (const Edge& edge : life())
    text += fmt::format("    {} --> {}: {}\n", enum_name(edge.from), enum_name(edge.to), cause_text(edge.cause));
  return text + "    Gone --> [*]\n```\n";
}

TEST(Life, EveryStateCanBeReached) { EXPECT_EQ(reachable_from(SlotState::Wanted), all_of<SlotState>()); }

TEST(Life, GoneCanBeReachedFromEveryState) {
  for (const SlotState state : all_of<SlotState>())
    EXPECT_TRUE(reachable_from(state).contains(SlotState::Gone)) << enum_name(state);
}

TEST(Life, GoneIsTheEnd) {
  for (const Edge& edge : life()) EXPECT_NE(edge.from, SlotState::Gone) << enum_name(edge.cause);
}

TEST(Life, UserCanGiveUpASlotInEveryState) {
  for (const SlotState state : all_of<SlotState>())
    EXPECT_NE(next(state, Cause::kUnwanted).has_value(), state == SlotState::Gone) << enum_name(state);
}

TEST(Life, EveryStateWithAMachineCanLoseIt) {
  // Terminating does not: there the machine's end is what is waited for.
  for (const SlotState state : {SlotState::Booting, SlotState::Configuring, SlotState::Joining, SlotState::Ready,
                                SlotState::Checking, SlotState::Draining})
    EXPECT_EQ(next(state, Cause::kLost), SlotState::Terminating) << enum_name(state);
}

TEST(Life, NoStateGoesTwoWaysForOneCause) {
  std::set<std::pair<SlotState, Cause>> seen;
  for (const Edge& edge : life())
    EXPECT_TRUE(seen.emplace(edge.from, edge.cause).second) << enum_name(edge.from) << " " << enum_name(edge.cause);
}

TEST(Life, EveryCauseLeadsSomewhere) {
  std::set<Cause> used;
  for (const Edge& edge : life()) used.insert(edge.cause);
  EXPECT_EQ(used, all_of<Cause>());
}

TEST(Life, NextFollowsTheTableAndNothingElse) {
  std::size_t edges = 0;
  for (const SlotState from : all_of<SlotState>())
    for (const Cause cause : all_of<Cause>()) edges += next(from, cause) ? 1 : 0;
  EXPECT_EQ(edges, life().size());
  for (const Edge& edge : life()) EXPECT_EQ(next(edge.from, edge.cause), edge.to);
}

TEST(Life, EveryStateHasADeadlineOrEndsByAnAnswer) {
  for (const SlotState state : all_of<SlotState>())
    EXPECT_NE(deadline(state, {}).has_value(), kEndsBy.contains(state)) << enum_name(state);
}

TEST(Life, AMissedDeadlineHasAWayOut) {
  for (const SlotState state : all_of<SlotState>())
    EXPECT_TRUE(!deadline(state, {}) || next(state, Cause::kLost)) << enum_name(state);
}

TEST(Life, TheGuideShowsTheTable) {
  const auto guide = read_file(ESPALIER_LIFE_GUIDE);
  ASSERT_TRUE(guide) << guide.error().message;
  const auto from = guide->find("```mermaid\n");
  const auto to = from == std::string::npos ? from : guide->find("```\n", from + 1);
  ASSERT_NE(to, std::string::npos) << ESPALIER_LIFE_GUIDE " needs this diagram:\n" << diagram();
  EXPECT_EQ(guide->substr(from, to + 4 - from), diagram()) << "put this into " ESPALIER_LIFE_GUIDE ":\n" << diagram();
}

TEST(Life, TheGuideNamesEveryStateAndCause) {
  const auto guide = read_file(ESPALIER_LIFE_GUIDE);
  ASSERT_TRUE(guide) << guide.error().message;
  for (const SlotState state : all_of<SlotState>())
    EXPECT_NE(guide->find(fmt::format("| {} |", enum_name(state))), std::string::npos) << enum_name(state);
  for (const Cause cause : all_of<Cause>())
    EXPECT_NE(guide->find(fmt::format("| {} |", cause_text(cause))), std::string::npos) << cause_text(cause);
}

}  // namespace
}  // namespace espalier::reconcile
