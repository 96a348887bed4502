// Durations and times as people write and read them.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace espalier::cli {

// "250ms", "2s", "1.5s", "3m", "1h30m". Never negative; at most a year.
Result<Millis> parse_duration(std::string_view text);
// Two units at most: "0.4s", "12s", "3m05s", "2h10m", "4d03h".
std::string show_duration(Millis duration);

// Epoch seconds of the wire.
Time from_epoch(double seconds);
std::string show_date(Time time);   // "2026-01-02 03:04:05Z"
std::string show_clock(Time time);  // "03:04:05"
// How long ago, "" for time 0.
std::string show_age(double epoch_seconds, Time now);

}  // namespace espalier::cli
