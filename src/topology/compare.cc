#include <fmt/ranges.h>

#include <string_view>

#include "slurm/hostlist.h"
#include "topology/plan.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMaxDifferences = 3;

// One switch, as a line of `scontrol show topology` or of a plan says it. Host lists in our own form.
struct Line {
  std::string nodes;     // of a leaf
  std::string switches;  // of an inner switch
  bool operator==(const Line&) const = default;
};
using Lines = std::map<std::string, Line>;

// slurmctld shows the nodes below an inner switch too; only a leaf's are its own.
constexpr std::string_view kName = "SwitchName=", kNodes = "Nodes=", kSwitches = "Switches=";

std::string_view take_until(std::string_view& text, char end) {
  const auto part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

Result<std::string> canonical(std::string_view hostlist, std::string_view name) {
  auto names = slurm::expand(hostlist);
  if (!names)
    return fail(names.error().code, "'scontrol show topology' on switch {}: {} (is SLURM_TOPO_LEN set? It cuts lines)",
                name, names.error().message);
  return slurm::compress(*names);
}

Result<void> read_line(std::string_view text, Lines& out) {
  std::string name;
  std::string_view nodes, switches;
  const auto whole = text.substr(0, 80);
  while (!text.empty()) {
    const auto field = take_until(text, ' ');
    if (field.starts_with(kName)) name = field.substr(kName.size());
    if (field.starts_with(kNodes)) nodes = field.substr(kNodes.size());
    if (field.starts_with(kSwitches)) switches = field.substr(kSwitches.size());
  }
  if (name.empty())
    return fail(ErrorCode::kInvalid, "'scontrol show topology' printed '{}', which names no switch", whole);
  const bool is_leaf = switches.empty();
  auto list = canonical(is_leaf ? nodes : switches, name);
  if (!list) return tl::unexpected(list.error());
  (is_leaf ? out[name].nodes : out[name].switches) = std::move(*list);
  return {};
}

Result<Lines> read(std::string_view shown) {
  Lines out;
  while (!shown.empty()) {
    auto line = take_until(shown, '\n');
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (auto ok = read_line(line, out); !ok) return tl::unexpected(ok.error());
  }
  return out;
}

Lines lines_of(const Plan& plan) {
  Lines out;
  for (const auto& line : plan.switches) out[line.name] = {slurm::compress(line.nodes), slurm::compress(line.switches)};
  return out;
}

std::string text_of(const Line& line) {
  return line.switches.empty() ? fmt::format("nodes '{}'", line.nodes) : fmt::format("switches '{}'", line.switches);
}

std::vector<std::string> differences(const Lines& wanted, const Lines& shown) {
  std::vector<std::string> out;
  for (const auto& [name, line] : wanted) {
    const auto found = shown.find(name);
    if (found == shown.end())
      out.push_back(fmt::format("switch {} is missing", name));
    else if (found->second != line)
      out.push_back(fmt::format("switch {} has {}, planned are {}", name, text_of(found->second), text_of(line)));
  }
  for (const auto& [name, line] : shown)
    if (wanted.count(name) == 0) out.push_back(fmt::format("switch {} is not planned", name));
  return out;
}

}  // namespace

Result<void> compare(const Plan& plan, std::string_view shown) {
  const auto lines = read(shown);
  if (!lines) return tl::unexpected(lines.error());
  auto differ = differences(lines_of(plan), *lines);
  if (differ.empty()) return {};
  const auto count = differ.size();
  if (count > kMaxDifferences) {
    differ.resize(kMaxDifferences);
    differ.push_back(fmt::format("{} more", count - kMaxDifferences));
  }
  return fail(ErrorCode::kConflict, "slurmctld shows another topology than planned: {}", fmt::join(differ, "; "));
}

Result<std::map<std::string, std::string>> read_leaves(std::string_view shown) {
  const auto lines = read(shown);
  if (!lines) return tl::unexpected(lines.error());
  std::map<std::string, std::string> out;
  for (const auto& [name, line] : *lines) {
    if (!line.switches.empty()) continue;
    const auto nodes = slurm::expand(line.nodes);
    if (!nodes) return tl::unexpected(nodes.error());
    for (const auto& node : *nodes) out.emplace(node, name);
  }
  return out;
}

}  // namespace espalier::topology
