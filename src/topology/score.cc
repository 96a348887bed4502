#include "topology/score.h"

#include <algorithm>
#include <optional>

#include "slurm/hostlist.h"

namespace espalier::topology {
namespace {

// The truth, as a job sees it. Paths are compared from the root.
class Fabric {
 public:
  explicit Fabric(const Positions& truth) : truth_(truth) {
    for (const auto& [node, position] : truth) {
      depth_ = std::max(depth_, position.network_nodes.size());
      if (!position.network_nodes.empty()) ++leaf_sizes_[position.network_nodes];
    }
    for (const auto& [leaf, size] : leaf_sizes_) sizes_.push_back(size);
    std::ranges::sort(sizes_, std::greater<>());
  }

  using Path = std::vector<std::string>;
  // A leaf is its whole path: two switches of a name below different ones are two.
  [[nodiscard]] Path leaf(const std::string& node) const {
    const auto at = truth_.find(node);
    return at == truth_.end() || at->second.network_nodes.empty() ? Path{"?" + node} : at->second.network_nodes;
  }
  [[nodiscard]] std::string domain(const std::string& node) const {
    const auto at = truth_.find(node);
    return at == truth_.end() || at->second.domain.empty() ? "?" + node : at->second.domain;
  }
  // The domain where there is one, else the leaf.
  [[nodiscard]] Path unit(const std::string& node) const {
    const auto at = truth_.find(node);
    return at != truth_.end() && !at->second.domain.empty() ? Path{"", at->second.domain} : leaf(node);
  }

  [[nodiscard]] std::size_t least_leaves(std::size_t nodes) const {
    std::size_t count = 0;
    for (auto size = sizes_.begin(); nodes > 0 && size != sizes_.end(); ++size, ++count)
      nodes -= std::min(nodes, *size);
    return count + nodes;
  }

  [[nodiscard]] double hops(const Path& a, const Path& b) const {
    const auto common = std::ranges::mismatch(a, b).in1 - a.begin();
    if (common == 0) return 2.0 * static_cast<double>(depth_ + 1);
    return 2.0 * static_cast<double>(1 + std::max(a.size(), b.size()) - static_cast<std::size_t>(common));
  }

 private:
  const Positions& truth_;
  std::size_t depth_ = 0;
  std::map<Path, std::size_t> leaf_sizes_;
  std::vector<std::size_t> sizes_;  // of the leaves, largest first
};

double pairs(std::size_t n) { return static_cast<double>(n) * (static_cast<double>(n) - 1) / 2; }

// Pairs of leaves instead of pairs of nodes: a job has far fewer of them.
double mean_hops(const Fabric& fabric, const std::map<Fabric::Path, std::size_t>& leaves, std::size_t nodes) {
  if (nodes < 2) return 0;
  double sum = 0;
  for (auto a = leaves.begin(); a != leaves.end(); ++a) {
    sum += 2 * pairs(a->second);
    for (auto b = std::next(a); b != leaves.end(); ++b)
      sum += fabric.hops(a->first, b->first) * static_cast<double>(a->second * b->second);
  }
  return sum / pairs(nodes);
}

JobScore score_job(const Fabric& fabric, const PlacedJob& job) {
  JobScore out{.id = job.id, .nodes = job.nodes.size()};
  std::map<Fabric::Path, std::size_t> leaves;
  std::set<std::string> domains;
  Fabric::Path last;
  for (const auto& node : job.nodes) {
    auto leaf = fabric.leaf(node);
    if (!last.empty() && leaf != last) ++out.leaf_crossings;
    ++leaves[leaf];
    domains.insert(fabric.domain(node));
    last = std::move(leaf);
  }
  out.leaves = leaves.size();
  out.least_leaves = fabric.least_leaves(out.nodes);
  out.domains = domains.size();
  out.hops = mean_hops(fabric, leaves, out.nodes);
  return out;
}

std::vector<Segments> count_segments(const Fabric& fabric, const std::vector<std::string>& idle,
                                     const std::vector<std::size_t>& sizes) {
  std::map<Fabric::Path, std::size_t> units;
  for (const auto& node : idle) ++units[fabric.unit(node)];
  std::vector<Segments> out;
  for (const auto size : sizes) {
    Segments each{.size = size};
    for (const auto& [unit, count] : units) {
      each.free += size == 0 ? 0 : count / size;
      each.stranded += size == 0 ? 0 : count % size;
    }
    out.push_back(each);
  }
  return out;
}

double fragmentation(const Fabric& fabric, const std::vector<PlacedJob>& jobs, const std::vector<std::string>& idle) {
  std::set<Fabric::Path> busy;
  for (const auto& job : jobs)
    for (const auto& node : job.nodes) busy.insert(fabric.leaf(node));
  const auto beside = std::ranges::count_if(idle, [&](const auto& node) { return busy.contains(fabric.leaf(node)); });
  return idle.empty() ? 0 : static_cast<double>(beside) / static_cast<double>(idle.size());
}

void take_means(Score& out) {
  double count = 0;
  for (const auto& job : out.jobs) {
    if (job.nodes < 2) continue;
    ++count;
    out.leaves += static_cast<double>(job.leaves);
    out.least_leaves += static_cast<double>(job.least_leaves);
    out.hops += job.hops;
    out.crossings += static_cast<double>(job.leaf_crossings);
    out.in_one_domain += job.domains == 1 ? 1 : 0;
  }
  if (count == 0) return;
  for (double* mean : {&out.leaves, &out.least_leaves, &out.hops, &out.crossings, &out.in_one_domain}) *mean /= count;
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

// Name and text of every figure.
std::vector<std::pair<std::string, std::string>> figures(const Score& score) {
  const auto multi = std::ranges::count_if(score.jobs, [](const auto& job) { return job.nodes > 1; });
  std::vector<std::pair<std::string, std::string>> out = {
      {"jobs of several nodes", fmt::format("{}", multi)},
      {"leaves per job", fmt::format("{:.2f}", score.leaves)},
      {"  least possible", fmt::format("{:.2f}", score.least_leaves)},
      {"mean hops between its nodes", fmt::format("{:.2f}", score.hops)},
      {"leaf crossings of its ranks", fmt::format("{:.2f}", score.crossings)},
      {"jobs in one NVLink domain", percent(score.in_one_domain)},
      {"idle nodes", fmt::format("{}", score.idle)},
      {"  beside busy ones", percent(score.fragmentation)},
  };
  for (const auto& each : score.segments)
    out.emplace_back(fmt::format("  segments of {}", each.size),
                     fmt::format("{} ({} stranded)", each.free, each.stranded));
  return out;
}

}  // namespace

Score score(const Positions& truth, const std::vector<PlacedJob>& jobs, const std::vector<std::string>& idle,
            const std::vector<std::size_t>& segment_sizes) {
  const Fabric fabric(truth);
  Score out;
  for (const auto& job : jobs) out.jobs.push_back(score_job(fabric, job));
  take_means(out);
  out.idle = idle.size();
  out.segments = count_segments(fabric, idle, segment_sizes);
  out.fragmentation = fragmentation(fabric, jobs, idle);
  return out;
}

Result<std::vector<PlacedJob>> read_jobs(std::string_view text) {
  std::vector<PlacedJob> out;
  std::optional<Error> wrong;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty() || wrong) return;
    const auto end = line.find_first_of(" \t");
    auto nodes = slurm::expand(end == std::string_view::npos ? "" : trim(line.substr(end)));
    if (!nodes || nodes->empty())
      wrong = Error{ErrorCode::kInvalid, fmt::format("line {}: 'ID HOSTLIST' was expected, not '{}'", number, line)};
    else
      out.push_back({std::string(line.substr(0, end)), std::move(*nodes)});
  });
  if (wrong) return tl::unexpected(*wrong);
  return out;
}

std::string draw(const Score& score) {
  std::string out;
  for (const auto& [name, text] : figures(score)) out += fmt::format("{:<30}{}\n", name, text);
  return out;
}

std::string draw(const Score& before, const Score& after) {
  auto out = fmt::format("{:<30}{:<22}{}\n", "", "before", "after");
  const auto a = figures(before), b = figures(after);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    out += fmt::format("{:<30}{:<22}{}\n", a[i].first, a[i].second, b[i].second);
  return out;
}

}  // namespace espalier::topology
