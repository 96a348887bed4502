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

}  // namespace
}  // namespace espalier::agent
