#include "topology/sources/grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::topology {
namespace {

using testing::ElementsAre;

TEST(Grouping, HalfOfTheSmallerJoins) {
  EXPECT_THAT(group_by_shared({{1, 2, 3, 4}, {3, 4, 5, 6}, {6, 7, 8}}), ElementsAre(0, 0, 1));
  EXPECT_THAT(group_by_shared({{1}, {2}, {1, 2}}), ElementsAre(0, 0, 0));
}

TEST(Grouping, NothingSharedIsAlone) {
  EXPECT_THAT(group_by_shared({{}, {}, {1}}), ElementsAre(0, 1, 2));
  EXPECT_THAT(group_by_shared({}), ElementsAre());
}

TEST(Grouping, WhatVeryManyShareStillJoinsThem) {
  const std::vector<std::set<std::size_t>> sets(3000, {7});
  EXPECT_THAT(group_by_shared(sets), testing::Each(0U));
}

}  // namespace
}  // namespace espalier::topology
