#include "cli/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace espalier::cli {

namespace {

// Levenshtein's distance, one row at a time.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto distance = edits(name, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kShown = 8;
  if (candidates.empty()) return " There is none.";
  if (const auto near = nearest(name, candidates)) return fmt::format(" Did you mean '{}'?", *near);
  const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, candidates.size()));
  return fmt::format(" There are: {}{}.", fmt::join(candidates.begin(), end, ", "),
                     candidates.size() > kShown ? ", …" : "");
}

}  // namespace espalier::cli
