// Slurm's host lists: "p5-[1-3,7],login-1". Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::slurm {

// Slurm has no more nodes: more are fatal to slurmctld.
inline constexpr std::size_t kNodeTable = 65'536;

// The names in order, duplicates kept. Bounded at kNodeTable names of 255 characters. kInvalid with the place.
Result<std::vector<std::string>> expand(std::string_view hostlist);
// The shortest usual form, sorted by prefix, then by number; duplicates dropped. Leading zeros are kept apart.
std::string compress(const std::vector<std::string>& names);
// The places of `names` in natural order; equal names stay in their order. Quicker than to sort with natural_less.
std::vector<std::uint32_t> natural_order(const std::vector<std::string_view>& names);
// Orders names as people count: p5-2 before p5-10.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace espalier::slurm
