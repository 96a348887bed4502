
#include "topology/sources/merge.h"

namespace espalier::topology {
namespace {

// A part of a position by its place: 0 the leaf, 1 the switch above it …; kDomain the domain.
using Place = std::size_t;
constexpr Place kDomain = static_cast<Place>(-1);

template <typename F>
void for_each_part(const Position& position, F&& f) {
  const auto& nodes = position.network_nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) f(nodes.size() - 1 - i, nodes[i]);
  if (!position.domain.empty()) f(kDomain, position.domain);
}

using Unit = std::pair<Place, std::string>;

// How many machines each unit has.
std::map<Unit, std::size_t> sizes_of(const Positions& positions) {
  std::map<Unit, std::size_t> out;
  for (const auto& [node, position] : positions)
    for_each_part(position, [&](Place place, const std::string& name) { ++out[{place, name}]; });
  return out;
}

// Machines that were below one unit and are below another now, by (new, old). A machine that is new or had no place
// says nothing.
std::map<std::pair<Unit, Unit>, std::size_t> moves(const Positions& now, const Positions& last) {
  std::map<std::pair<Unit, Unit>, std::size_t> out;
  for (const auto& [node, position] : now) {
    const auto known = last.find(node);
    if (known == last.end()) continue;
    std::map<Place, std::string> before;
    for_each_part(known->second, [&](Place place, const std::string& name) { before[place] = name; });
    for_each_part(position, [&](Place place, const std::string& name) {
      if (const auto at = before.find(place); at != before.end()) ++out[{{place, name}, {place, at->second}}];
    });
  }
  return out;
}

}  // namespace

Positions keep_names(Positions now, const Positions& last) {
  const auto new_sizes = sizes_of(now), old_sizes = sizes_of(last);
  std::map<Unit, std::string> names;
  std::map<Unit, bool> given;
  for (const auto& [pair, count] : moves(now, last)) {
    const auto& [unit, old] = pair;
    const bool both_known = old_sizes.contains(unit) || new_sizes.contains(old);
    if (both_known || given[old] || names.contains(unit) || count * 2 <= old_sizes.at(old)) continue;
    names[unit] = old.second;
    given[old] = true;
  }
  if (names.empty()) return now;
  const auto renamed = [&](Place place, std::string& name) {
    if (const auto at = names.find({place, name}); at != names.end()) name = at->second;
  };
  for (auto& [node, position] : now) {
    auto& nodes = position.network_nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) renamed(nodes.size() - 1 - i, nodes[i]);
    renamed(kDomain, position.domain);
  }
  return now;
}

}  // namespace espalier::topology
