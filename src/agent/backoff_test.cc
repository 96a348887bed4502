#include "agent/backoff.h"

#include <gtest/gtest.h>

namespace espalier::agent {
namespace {

TEST(Backoff, GrowsWithJitterUpToItsLongest) {
  Backoff pauses(Millis(50), Millis(2000), Random(7));
  Millis::rep whole = 50;
  for (int i = 0; i < 20; ++i) {
    const auto pause = pauses.next().count();
    EXPECT_GE(pause, whole / 2);
    EXPECT_LE(pause, whole);
    whole = std::min<Millis::rep>(whole * 2, 2000);
  }
  pauses.reset();
  EXPECT_LE(pauses.next(), Millis(50));
}

TEST(Backoff, AsksUntilThereIsAnAnswer) {
  int asked = 0;
  const auto late = [&]() -> Result<int> {
    if (++asked < 2) return fail(ErrorCode::kNotFound, "not yet");
    return 7;
  };
  const Backoff at_once(Millis(0), Millis(0), Random(7));
  EXPECT_EQ(ask_for(Millis(60'000), late, at_once), 7);
  EXPECT_EQ(asked, 2);
  asked = 0;
  const auto refused = [&]() -> Result<int> { return ++asked, fail(ErrorCode::kPermission, "never"); };
  EXPECT_FALSE(ask_for(Millis(60'000), refused, at_once));
  EXPECT_EQ(asked, 1) << "it would be refused again";
  EXPECT_FALSE(ask_for(Millis(0), [&]() -> Result<int> { return fail(ErrorCode::kUnavailable, "gone"); }));
}

}  // namespace
}  // namespace espalier::agent
