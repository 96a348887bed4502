#include "topology/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "slurm/hostlist.h"

namespace espalier::topology {
namespace {

using Is = NodeNow::Is;
constexpr std::size_t kMostKinds = 6;  // of nodes that are not idle

// Reasons that have nothing to do with nodes.
std::string other_reason(const slurm::Job& job) {
  if (job.reason == "Dependency") return fmt::format("it waits for other jobs: {}", job.dependency);
  if (job.reason == "BeginTime") return fmt::format("it is not to begin before {}", job.start_time);
  if (job.reason == "JobHeldUser") return fmt::format("its user holds it: scontrol release {}", job.id);
  if (job.reason == "JobHeldAdmin") return "an admin holds it";
  static constexpr std::array kLimits = {"QOS", "Assoc", "Licenses", "Reservation", "Partition", "JobArrayTaskLimit"};
  if (job.reason == "PartitionNodeLimit") return "";  // it asks for more than there are, or than MaxNodes
  for (const auto* limit : kLimits)
    if (job.reason.starts_with(limit)) return fmt::format("a limit or a setting of Slurm's holds it: {}", job.reason);
  return "";
}

// The idle nodes, unit by unit, in the order of the topology.
class Idle {
 public:
  Idle(const Plan& plan, const std::vector<const NodeNow*>& nodes) : plan_(plan) {
    std::set<std::string_view> idle;
    for (const auto* node : nodes)
      if (node->is == Is::idle) idle.insert(node->name);
    all_ = idle.size();
    const auto count = [&](const std::string& name, const std::vector<std::string>& in) {
      units_.push_back({name, static_cast<std::size_t>(
                                  std::ranges::count_if(in, [&](const auto& node) { return idle.contains(node); }))});
    };
    for (const auto& line : plan.switches)
      if (!line.nodes.empty()) count(line.name, line.nodes);
    for (const auto& block : plan.blocks) count(block.name, block.nodes);
  }

  struct Unit {
    std::string name;
    std::size_t idle = 0;
  };
  [[nodiscard]] std::size_t all() const { return all_; }
  [[nodiscard]] Unit fullest() const {
    const auto most = std::ranges::max_element(units_, {}, &Unit::idle);
    return most == units_.end() ? Unit{} : *most;
  }
  [[nodiscard]] std::size_t segments(std::size_t size) const {
    return std::accumulate(units_.begin(), units_.end(), std::size_t{0},
                           [size](std::size_t sum, const Unit& unit) { return sum + unit.idle / size; });
  }
  // The least leaves that have so many idle nodes together.
  [[nodiscard]] std::size_t least_leaves(std::size_t nodes) const {
    std::vector<std::size_t> counts;
    for (const auto& unit : units_) counts.push_back(unit.idle);
    std::ranges::sort(counts, std::greater<>());
    std::size_t leaves = 0;
    for (std::size_t i = 0; i < counts.size() && nodes > 0; ++i, ++leaves) nodes -= std::min(nodes, counts[i]);
    return leaves;
  }
  // The most idle nodes in one aggregate of neighbouring blocks that is large enough for the job.
  [[nodiscard]] std::size_t most_in_aggregate(std::size_t nodes) const {
    const auto size = std::ranges::find_if(plan_.block_sizes, [&](int s) { return std::size_t(s) >= nodes; });
    if (size == plan_.block_sizes.end()) return all_;
    const auto width = static_cast<std::size_t>(*size / plan_.block_sizes.front());
    std::size_t most = 0;
    for (std::size_t from = 0; from < units_.size(); from += width) {
      std::size_t sum = 0;
      for (std::size_t i = from; i < std::min(from + width, units_.size()); ++i) sum += units_[i].idle;
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  const Plan& plan_;
  std::size_t all_ = 0;
  std::vector<Unit> units_;
};

class Reasoning {
 public:
  Reasoning(const slurm::Job& job, const Plan& plan, const std::vector<NodeNow>& nodes)
      : job_(job), plan_(plan), nodes_(candidates(job, nodes)), idle_(plan, nodes_) {}

  Wait said() {
    if (count() > nodes_.size())
      out_.because.push_back(
          fmt::format("it asks for {} nodes, and partition {} has {} for it", count(), job_.partition, nodes_.size()));
    else if (idle_.all() < count())
      too_few();
    else if (!fits(count(), segment()))
      too_far_apart();
    else
      out_.because.push_back(although_it_fits());
    if (!job_.features.empty())
      out_.because.push_back(fmt::format("its constraint '{}' may leave out some of these nodes", job_.features));
    if (!fits(count(), segment())) suggest();
    return std::move(out_);
  }

 private:
  static std::vector<const NodeNow*> candidates(const slurm::Job& job, const std::vector<NodeNow>& nodes) {
    const std::set<std::string> not_on(job.not_on.begin(), job.not_on.end());
    std::vector<const NodeNow*> out;
    for (const auto& node : nodes)
      if (!not_on.contains(node.name)) out.push_back(&node);
    return out;
  }

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(std::max(job_.nodes, 1)); }
  [[nodiscard]] std::size_t segment() const { return static_cast<std::size_t>(std::max(job_.segment.value_or(0), 0)); }
  [[nodiscard]] std::size_t base() const {
    return static_cast<std::size_t>(plan_.block_sizes.empty() ? 1 : plan_.block_sizes.front());
  }

  // Are so many nodes idle, and close enough to each other?
  [[nodiscard]] bool fits(std::size_t nodes, std::size_t segment) const {
    if (idle_.all() < nodes || nodes == 0) return false;
    if (plan_.model == Model::tree)
      return job_.switches == 0 || idle_.least_leaves(nodes) <= static_cast<std::size_t>(job_.switches);
    if (plan_.model != Model::block || nodes == 1) return true;
    if (segment > 0) return nodes % segment == 0 && segment <= base() && idle_.segments(segment) >= nodes / segment;
    return nodes <= base() ? idle_.fullest().idle >= nodes : idle_.most_in_aggregate(nodes) >= nodes;
  }

  void too_few() {
    std::map<Is, std::size_t> counts;
    std::map<std::string, std::vector<std::string>> kinds;
    for (const auto* node : nodes_) {
      ++counts[node->is];
      if (node->is == Is::coming || node->is == Is::out) kinds[node->why].push_back(node->name);
    }
    out_.because.push_back(
        fmt::format("it needs {} nodes: {} are idle, {} have jobs, {} are still to come, {} are out "
                    "of use",
                    count(), counts[Is::idle], counts[Is::busy], counts[Is::coming], counts[Is::out]));
    std::size_t told = 0;
    for (const auto& [why, names] : kinds)
      if (told++ < kMostKinds) out_.because.push_back(fmt::format("{}: {}", slurm::compress(names), why));
    if (kinds.size() > kMostKinds)
      out_.because.push_back(fmt::format("and {} more reasons for other nodes", kinds.size() - kMostKinds));
  }

  void too_far_apart() {
    const auto fullest = idle_.fullest();
    if (plan_.model == Model::tree)
      out_.because.push_back(fmt::format("{} nodes are idle, but {} of them are on {} leaves at least, and it wants {}",
                                         idle_.all(), count(), idle_.least_leaves(count()), job_.switches));
    else if (segment() > 0)
      out_.because.push_back(
          fmt::format("{} nodes are idle, but the NVLink domains have {} of the {} segments of {} free", idle_.all(),
                      idle_.segments(segment()), count() / segment(), segment()));
    else if (count() <= base())
      out_.because.push_back(fmt::format("no NVLink domain has {} free: the most are {}, in block {}", count(),
                                         fullest.idle, fullest.name));
    else
      out_.because.push_back(fmt::format("no neighbouring NVLink domains have {} free together: the most are {}",
                                         count(), idle_.most_in_aggregate(count())));
    if (plan_.model == Model::block && !job_.segment)
      out_.because.emplace_back("it is taken to have no --segment: older versions of Slurm do not show it");
  }

  [[nodiscard]] std::string although_it_fits() const {
    if (job_.reason == "PartitionNodeLimit")
      return "enough nodes are idle; MaxNodes or MinNodes of the partition forbids it";
    if (job_.reason == "Priority") return "enough nodes are idle; jobs of a higher priority wait for them too";
    return fmt::format(
        "enough nodes are idle; slurmctld says '{}': they may lack what it asks of each (processors, "
        "memory, GPUs), or slurmctld has not come to it yet",
        job_.reason.empty() ? "None" : job_.reason);
  }

  void suggest() {
    if (plan_.model == Model::tree && job_.switches > 0 && idle_.all() >= count())
      out_.would_run.push_back(fmt::format("--switches={}", idle_.least_leaves(count())));
    if (plan_.model == Model::block)
      for (auto size = std::min(base(), segment() > 0 ? segment() - 1 : count() - 1); size > 0; --size)
        if (fits(count(), size)) {
          out_.would_run.push_back(fmt::format("--segment={}", size));
          break;
        }
    for (auto fewer = std::min(count() - 1, idle_.all()); fewer > 0; --fewer)
      if (fits(fewer, segment())) {
        out_.would_run.push_back(fmt::format("-N{}", fewer));
        break;
      }
  }

  const slurm::Job& job_;
  const Plan& plan_;
  std::vector<const NodeNow*> nodes_;
  Idle idle_;
  Wait out_;
};

}  // namespace

Wait explain_wait(const slurm::Job& job, const Plan& plan, const std::vector<NodeNow>& nodes) {
  if (job.state != "PENDING") return {{fmt::format("it does not wait: it is {} {}", job.state, job.node_list)}, {}};
  if (auto why = other_reason(job); !why.empty()) return {{std::move(why)}, {}};
  return Reasoning(job, plan, nodes).said();
}

}  // namespace espalier::topology
