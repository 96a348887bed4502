#include "topology/sources/merge.h"

#include <algorithm>

namespace espalier::topology {
namespace {

// Takes what `into` does not know. False: it knows something else.
template <typename Part>
bool fill(Part& into, const Part& from) {
  if (from.empty() || into == from) return true;
  if (!into.empty()) return false;
  into = from;
  return true;
}

void take(const std::string& node, const Position& position, const std::string& from, Located& out) {
  if (!has_room(out, node)) return;
  auto& known = out.positions[node];
  if (!fill(known.network_nodes, position.network_nodes))
    out.left_out.add(fmt::format("{}: its network nodes by {} differ from those of an earlier source", node, from));
  if (!fill(known.domain, position.domain))
    out.left_out.add(fmt::format("{}: its domain by {} differs from that of an earlier source", node, from));
}

}  // namespace

Located merge(std::vector<Answer> answers) {
  Located out;
  for (const auto& answer : answers) out.left_out.add_all(answer.located.left_out, answer.from + ": ");
  // Those without doubt first.
  for (const auto& answer : answers)
    for (const auto& [node, position] : answer.located.positions)
      if (!answer.located.doubtful.contains(node)) take(node, position, answer.from, out);
  for (const auto& answer : answers)
    for (const auto& node : answer.located.doubtful) {
      auto& known = out.positions[node];
      const auto before = known;
      const auto& position = answer.located.positions.at(node);
      (void)fill(known.network_nodes, position.network_nodes);
      (void)fill(known.domain, position.domain);
      if (!(known == before)) out.doubtful.insert(node);
    }
  return out;
}

Located keep_last_known(Located now, const Positions& last) {
  for (const auto& [node, known] : last) {
    if (!has_room(now, node)) continue;
    auto& position = now.positions[node];
    if (now.doubtful.erase(node) == 1) {
      now.left_out.add(fmt::format("{}: its sources contradict themselves; it keeps its last known place", node));
      position = known;
    }
    (void)fill(position.network_nodes, known.network_nodes);
    (void)fill(position.domain, known.domain);
  }
  return now;
}

}  // namespace espalier::topology
