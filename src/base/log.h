// Log lines go to standard error: time, level, text. Secrets are never logged.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace espalier::log {

enum class Level { kDebug, kInfo, kWarn, kError };

void set_level(Level level);  // kInfo at the start
void write(Level level, std::string_view text);

template <typename... A>
void debug(fmt::format_string<A...> f, A&&... a) {
  write(Level::kDebug, fmt::format(f, std::forward<A>(a)...));
}
template <typename... A>
void info(fmt::format_string<A...> f, A&&... a) {
  write(Level::kInfo, fmt::format(f, std::forward<A>(a)...));
}
template <typename... A>
void warn(fmt::format_string<A...> f, A&&... a) {
  write(Level::kWarn, fmt::format(f, std::forward<A>(a)...));
}
template <typename... A>
void error(fmt::format_string<A...> f, A&&... a) {
  write(Level::kError, fmt::format(f, std::forward<A>(a)...));
}

}  // namespace espalier::log
