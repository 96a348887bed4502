#include <fmt/format.h>

#include <algorithm>

#include "slurm/hostlist.h"
#include "topology/cluster_plan.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMaxHosts = 60;  // columns of a host list; the count tells the rest
constexpr std::size_t kStep = 3;       // columns of one level

struct Row {
  std::string lines;  // box drawing characters: more bytes than columns
  std::size_t depth = 0;
  std::string name;
  std::string hosts;  // "" for an inner switch
  std::size_t count = 0;

  [[nodiscard]] std::size_t width() const { return depth * kStep + name.size(); }
};

std::string shortened(std::string hosts) {
  if (hosts.size() <= kMaxHosts) return hosts;
  const auto cut = hosts.rfind(',', kMaxHosts);
  return hosts.substr(0, cut == std::string::npos ? kMaxHosts : cut + 1) + "…";
}

class Drawing {
 public:
  explicit Drawing(const Plan& plan) {
    for (const auto& line : plan.switches) by_name_.emplace(line.name, &line);
    if (!plan.switches.empty()) add(plan.switches.front(), "", "", 0);
    for (const auto& block : plan.blocks)
      rows_.push_back({"", 0, block.name, shortened(slurm::compress(block.nodes)), block.nodes.size()});
  }

  [[nodiscard]] std::string text() const {
    std::size_t width = 0;
    for (const auto& row : rows_) width = std::max(width, row.width());
    std::string out;
    for (const auto& row : rows_) {
      const auto gap = std::string(width - row.width() + 2, ' ');
      const auto hosts = row.hosts.empty() ? "" : "  " + row.hosts;
      out +=
          fmt::format("{}{}{}{:>4} node{}{}\n", row.lines, row.name, gap, row.count, row.count == 1 ? " " : "s", hosts);
      while (out.size() > 1 && out[out.size() - 2] == ' ') out.erase(out.size() - 2, 1);
    }
    return out;
  }

 private:
  // Adds a switch and what hangs below it; returns its nodes. `lines` stand before its name, `below` before its
  // children.
  std::size_t add(const Switch& line, const std::string& lines, const std::string& below, std::size_t depth) {
    by_name_.erase(line.name);  // drawn once, also in a plan with circles, which check() refuses
    const auto at = rows_.size();
    rows_.push_back({lines, depth, line.name, shortened(slurm::compress(line.nodes)), line.nodes.size()});
    for (const auto& child : line.switches) {
      const bool last = &child == &line.switches.back();
      const auto found = by_name_.find(child);
      if (found == by_name_.end()) continue;
      rows_[at].count += add(*found->second, below + (last ? "└─ " : "├─ "), below + (last ? "   " : "│  "), depth + 1);
    }
    return rows_[at].count;
  }

  std::map<std::string, const Switch*> by_name_;
  std::vector<Row> rows_;
};

}  // namespace

std::string draw(const Plan& plan) {
  if (plan.model == Model::flat) return fmt::format("flat: every node is as near as every other ({})\n", plan.because);
  return Drawing(plan).text();
}

std::string draw(const ClusterPlan& plan) {
  if (plan.topologies.size() == 1) return draw(plan.main());
  std::string out;
  for (const auto& topology : plan.topologies) {
    const bool main = &topology == &plan.main();
    out += fmt::format("{}{}{}:\n{}", out.empty() ? "" : "\n", enum_name(topology.model), main ? " (default)" : "",
                       draw(topology));
  }
  return out;
}

}  // namespace espalier::topology
