#include "agent/slurm_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace espalier::agent {

namespace {

template <typename Each>
void for_each_part(std::string_view text, char separator, Each each) {
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Cut at the first three bars: a reason may hold more of them.
std::optional<std::array<std::string_view, 4>> fields_of(std::string_view line) {
  std::array<std::string_view, 4> fields;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto bar = line.find('|');
    if (bar == std::string_view::npos) return std::nullopt;
    fields[i] = line.substr(0, bar);
    line.remove_prefix(bar + 1);
  }
  fields[3] = line;
  return fields;
}

// The value of "key=value" among words; "(null)" is "".
std::string_view value_of(std::string_view words, std::string_view key) {
  std::string_view found;
  for_each_part(words, ' ', [&](std::string_view word) {
    if (word.starts_with(key) && found.empty()) found = word.substr(key.size());
  });
  return found == "(null)" ? std::string_view() : found;
}

}  // namespace

std::vector<NodeView> parse_nodes(std::string_view sinfo) {
  std::vector<NodeView> nodes;
  std::unordered_set<std::string_view> seen;
  for_each_part(sinfo, '\n', [&](std::string_view line) {
    const auto fields = fields_of(line);
    if (!fields || (*fields)[0].empty() || !seen.insert((*fields)[0]).second) return;
    const auto [name, state, address, reason] = *fields;
    nodes.push_back(
        {std::string(name), std::string(state), std::string(address), reason == "none" ? "" : std::string(reason)});
  });
  return nodes;
}

std::string node_lines(const std::vector<NodeView>& nodes) {
  std::string out;
  for (const auto& node : nodes) out += fmt::format("{}|{}|{}|{}\n", node.name, node.state, node.address, node.reason);
  return out;
}

std::string partition_lines(std::string_view scontrol) {
  std::string out;
  for_each_part(scontrol, '\n', [&](std::string_view line) {
    const auto name = value_of(line, "PartitionName=");
    if (!name.empty()) out += fmt::format("{}|{}\n", name, value_of(line, "Nodes="));
  });
  return out;
}

bool says_up(std::string_view ping) {
  bool up = false;
  for_each_part(ping, '\n', [&](std::string_view line) { up = up || line.ends_with("is UP"); });
  return up;
}

std::string causes_in(std::string_view log) {
  std::vector<std::string_view> lines;
  for_each_part(log, '\n', [&](std::string_view line) {
    const auto at = std::min(line.find("fatal: "), line.find("error: "));
    if (at != std::string_view::npos && std::find(lines.begin(), lines.end(), line.substr(at)) == lines.end())
      lines.push_back(line.substr(at));
  });
  // What follows a fatal line was said by another process, which goes on.
  const auto fatal = std::find_if(lines.rbegin(), lines.rend(), [](auto line) { return line.starts_with("fatal: "); });
  if (fatal != lines.rend()) lines.erase(fatal.base(), lines.end());
  if (lines.size() > kMaxCauses) lines.erase(lines.begin(), lines.end() - kMaxCauses);
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace espalier::agent
