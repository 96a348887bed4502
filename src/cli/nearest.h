// What a mistyped name may have meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::cli {

// The candidate with the fewest edits, if it is near enough to be a slip: a third of the name, two at least.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates);
// " Did you mean 'x'?", or " There are: a, b, c." (eight at most), or " There is none.".
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace espalier::cli
