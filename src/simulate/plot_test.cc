#include "simulate/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::simulate {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::HasSubstr;

TEST(Plot, MarksOfAnAxisAreRound) {
  EXPECT_EQ(count_step(8, 4), 2);
  EXPECT_EQ(count_step(1, 4), 1);
  EXPECT_EQ(count_step(70'000, 4), 10'000);
  EXPECT_EQ(time_step(hours(8), 8), hours(1));
  EXPECT_EQ(time_step(hours(24), 8), hours(3));
  EXPECT_EQ(time_step(minutes(1), 8), Millis(10'000));
  EXPECT_EQ(time_step(hours(24 * 31), 8), hours(168));
}

Report one_group() {
  LifeReport life;
  life.mode = "continuous";
  life.first_job = minutes(30);
  life.groups.push_back({"a<b", "ml.p5.48xlarge", {}, {}, {}, 0, 0, {}});
  life.timeline = {{Millis(0), {0}, 8, 0}, {minutes(30), {6}, 8, 4}};
  return {"Two & two", hours(1), 1, {life}};
}

TEST(Plot, ShowsEveryLifeAndItsGroups) {
  const std::string svg = plot(one_group());
  EXPECT_THAT(svg, HasSubstr("Two &amp; two"));
  EXPECT_THAT(svg, HasSubstr(">a&lt;b</text>"));
  EXPECT_THAT(svg, HasSubstr("first job after 30m00s, full size after never"));
  EXPECT_THAT(svg, HasSubstr(">wished for</text>"));
  EXPECT_THAT(svg, HasSubstr(">nodes</text>"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
}

TEST(Plot, NodesAreReadyFromTheirTimeOn) {
  // Half of the width is at 30 minutes: 64 + (860 - 84) / 2 = 452; six of nine at 130 + 200 × 3 / 9.
  EXPECT_THAT(plot(one_group()), HasSubstr("L452.0,330.0L452.0,196.7L840.0,196.7"));
}

}  // namespace
}  // namespace espalier::simulate
