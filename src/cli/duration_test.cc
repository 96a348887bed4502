#include "cli/duration.h"

#include <gtest/gtest.h>

namespace espalier::cli {
namespace {

TEST(Duration, ReadsUnitsAndSums) {
  EXPECT_EQ(parse_duration("250ms"), Millis(250));
  EXPECT_EQ(parse_duration("2s"), Millis(2000));
  EXPECT_EQ(parse_duration("1.5s"), Millis(1500));
  EXPECT_EQ(parse_duration("1h30m"), Millis(5'400'000));
  EXPECT_EQ(parse_duration("1d"), Millis(86'400'000));
}

TEST(Duration, RefusesWhatIsNone) {
  for (const char* text : {"", "2", "s", "-1s", "2 s", "1x", "5sm", "nan s", "1e9h", "99999999999d"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
    EXPECT_NE(parsed.error().message.find(text), std::string::npos);
  }
}

TEST(Duration, ShowsTwoUnitsAtMost) {
  EXPECT_EQ(show_duration(Millis(420)), "0.4s");
  EXPECT_EQ(show_duration(Millis(9'949)), "9.9s");
  EXPECT_EQ(show_duration(Millis(12'000)), "12s");
  EXPECT_EQ(show_duration(Millis(185'000)), "3m05s");
  EXPECT_EQ(show_duration(Millis(7'800'000)), "2h10m");
  EXPECT_EQ(show_duration(Millis(356'400'000)), "4d03h");
}

TEST(Duration, ShowsTimes) {
  const Time time = from_epoch(1'767'323'045.25);
  EXPECT_EQ(show_date(time), "2026-01-02 03:04:05Z");
  EXPECT_EQ(show_age(0, time), "");
  EXPECT_EQ(show_age(1'767'323'033.25, time), "12s");
  EXPECT_EQ(show_age(1'767'323'099, time), "0.0s") << "a clock that is ahead gives no negative age";
}

}  // namespace
}  // namespace espalier::cli
