#include "cli/duration.h"

#include <fmt/chrono.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace espalier::cli {

namespace {

constexpr double kYear = 365.0 * 86400e3;

std::optional<double> unit_millis(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s") return 1e3;
  if (unit == "m") return 60e3;
  if (unit == "h") return 3600e3;
  if (unit == "d") return 86400e3;
  return std::nullopt;
}

// Takes one "<number><unit>" from the front of text; adds it to total. False when there is none.
bool take_part(std::string_view& text, double& total) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  const auto unit = text.substr(0, text.find_first_not_of("mshd"));
  const auto millis = unit_millis(unit);
  if (!millis) return false;
  text.remove_prefix(unit.size());
  total += number * *millis;
  return true;
}

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  double total = 0;
  bool good = !text.empty();
  for (auto rest = text; good && !rest.empty();) good = take_part(rest, total);
  if (!good || total > kYear)
    return fail(ErrorCode::kInvalid, "'{}' is no duration: write one such as 250ms, 2s, 1m30s or 2h", text);
  return Millis(std::llround(total));
}

std::string show_duration(Millis duration) {
  const auto s = duration.count() / 1000;
  if (duration < Millis(9950)) return fmt::format("{:.1f}s", static_cast<double>(duration.count()) / 1000);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}

Time from_epoch(double seconds) { return Time(Millis(std::llround(seconds * 1000))); }

std::string show_date(Time time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string show_clock(Time time) {
  return fmt::format("{:%H:%M:%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string show_age(double epoch_seconds, Time now) {
  if (epoch_seconds <= 0) return "";
  return show_duration(std::max(Millis(0), now - from_epoch(epoch_seconds)));
}

}  // namespace espalier::cli
