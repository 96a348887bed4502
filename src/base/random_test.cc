#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace espalier {
namespace {

using testing::MatchesRegex;

TEST(RandomTest, UuidsAreVersion4InLowerCase) {
  Random random(1);
  for (int i = 0; i < 200; ++i)
    EXPECT_THAT(random.uuid(), MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST(RandomTest, UuidsDoNotRepeat) {
  Random random = Random::from_system();
  std::set<std::string> seen;
  for (int i = 0; i < 20'000; ++i) EXPECT_TRUE(seen.insert(random.uuid()).second);
}

TEST(RandomTest, TheSameSeedGivesTheSame) {
  Random one(42), two(42), other(43);
  const std::string uuid = one.uuid();
  EXPECT_EQ(two.uuid(), uuid);
  EXPECT_NE(other.uuid(), uuid);
}

TEST(RandomTest, TheSystemSeedsDifferently) { EXPECT_NE(Random::from_system().next(), Random::from_system().next()); }

TEST(RandomTest, BelowReachesAllValuesAndNoMore) {
  Random random(3);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(5));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(random.below(1), 0u);
}

TEST(RandomTest, UnitIsAtLeastZeroAndLessThanOne) {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const double x = random.unit();
    EXPECT_GE(x, 0.0);
    EXPECT_LT(x, 1.0);
  }
}

TEST(RandomTest, TextsHaveTheirLengthAndLetters) {
  Random random(5);
  EXPECT_THAT(random.hex(17), MatchesRegex("[0-9a-f]{17}"));
  EXPECT_THAT(random.letters_and_digits(12), MatchesRegex("[0-9a-z]{12}"));
  EXPECT_EQ(random.hex(0), "");
}

TEST(RandomTest, SecretsHaveTheirLengthAndDoNotRepeat) {
  EXPECT_EQ(secret_bytes(0), "");
  EXPECT_EQ(secret_bytes(1000).size(), 1000u);
  EXPECT_THAT(secret_hex(16), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(secret_hex(16), secret_hex(16));
}

}  // namespace
}  // namespace espalier
