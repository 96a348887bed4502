// What happened in a run, a line each: hashed always, printed on request. Two runs of a seed have one trace.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/clock.h"

namespace espalier::sim {

class Trace {
 public:
  // `out`: where lines are printed; null: nowhere.
  explicit Trace(std::FILE* out = nullptr) : out_(out) {}

  template <typename... A>
  void line(Time now, fmt::format_string<A...> f, A&&... a) {
    write(now, fmt::format(f, std::forward<A>(a)...));
  }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::int64_t lines() const { return lines_; }

 private:
  void write(Time now, std::string_view text) {
    const auto ms = now.time_since_epoch().count();
    const std::string line = fmt::format("{}.{:03} {}\n", ms / 1000 % 10'000'000, ms % 1000, text);
    for (const char c : line) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;  // FNV-1a
    ++lines_;
    if (out_ != nullptr) std::fputs(line.c_str(), out_);
  }

  std::FILE* out_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::int64_t lines_ = 0;
};

}  // namespace espalier::sim
