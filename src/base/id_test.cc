#include "base/id.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace espalier {
namespace {

using Apple = Id<struct AppleTag>;
using Pear = Id<struct PearTag>;

static_assert(!std::is_convertible_v<Apple, Pear> && !std::is_constructible_v<Apple, Pear>);
static_assert(!std::is_convertible_v<std::string, Apple>);  // only when it is said

TEST(IdTest, ComparesAndHashesByValue) {
  EXPECT_EQ(Apple("a"), Apple("a"));
  EXPECT_LT(Apple("a"), Apple("b"));
  const std::unordered_set<Apple> basket{Apple("a"), Apple("a"), Apple("b")};
  EXPECT_EQ(basket.size(), 2u);
}

TEST(IdTest, IsEmptyUntilNamed) {
  EXPECT_TRUE(Apple().empty());
  EXPECT_FALSE(Apple("a").empty());
  EXPECT_EQ(Apple("a").str(), "a");
}

}  // namespace
}  // namespace espalier
