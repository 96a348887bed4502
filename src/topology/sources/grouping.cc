#include "topology/sources/grouping.h"

#include <algorithm>
#include <numeric>

namespace espalier::topology {
namespace {

// A switch or a host that is shared by more things than this joins neighbours only: pairs grow with the square.
constexpr std::size_t kMaxPairs = 1024;

std::size_t find(std::vector<std::size_t>& parent, std::size_t at) {
  while (parent[at] != at) at = parent[at] = parent[parent[at]];
  return at;
}

std::map<std::size_t, std::vector<std::size_t>> owners_of(const std::vector<std::set<std::size_t>>& sets) {
  std::map<std::size_t, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (const auto each : sets[i]) out[each].push_back(i);
  return out;
}

}  // namespace

std::vector<std::size_t> group_by_shared(const std::vector<std::set<std::size_t>>& sets) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> shared;
  for (const auto& [each, owners] : owners_of(sets))
    for (std::size_t a = 0; a + 1 < owners.size(); ++a) {
      const auto last = owners.size() > kMaxPairs ? a + 2 : owners.size();
      for (std::size_t b = a + 1; b < last; ++b) ++shared[{owners[a], owners[b]}];
    }
  std::vector<std::size_t> parent(sets.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  for (const auto& [pair, count] : shared) {
    if (count * 2 < std::min(sets[pair.first].size(), sets[pair.second].size())) continue;
    const auto a = find(parent, pair.first), b = find(parent, pair.second);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::map<std::size_t, std::size_t> numbers;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < sets.size(); ++i)
    out.push_back(numbers.try_emplace(find(parent, i), numbers.size()).first->second);
  return out;
}

}  // namespace espalier::topology
