#include "topology/place.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "slurm/hostlist.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMostJobs = 100'000;

using Nodes = std::vector<std::string>;

// Leaves or blocks with their idle nodes, natural order.
using Units = std::vector<Nodes>;
// Units that are taken together: those below a switch, neighbouring blocks.
using Range = std::vector<std::size_t>;

class Placer {
 public:
  Placer(const Plan& plan, Nodes nodes) {
    std::ranges::sort(nodes, slurm::natural_less);
    if (plan.model == Model::flat) {
      units_ = {std::move(nodes)};
      ranges_ = {{0}};
    }
    if (plan.model == Model::tree) below(plan);
    if (plan.model == Model::block) neighbours(plan);
    // The smallest first; what lies in another is tried before it.
    std::ranges::stable_sort(ranges_, {}, &Range::size);
  }

  // Empty: there is no room.
  Nodes take(std::size_t count) {
    const auto* best = room_for(count);
    Nodes out;
    while (best != nullptr && out.size() < count) {
      auto& unit = units_[next_unit(*best, count - out.size())];
      const auto some = static_cast<std::ptrdiff_t>(std::min(unit.size(), count - out.size()));
      out.insert(out.end(), unit.begin(), unit.begin() + some);
      unit.erase(unit.begin(), unit.begin() + some);
    }
    return out;
  }

  [[nodiscard]] Nodes idle() const {
    Nodes out;
    for (const auto& unit : units_) out.insert(out.end(), unit.begin(), unit.end());
    return out;
  }

 private:
  void below(const Plan& plan) {
    std::map<std::string, Range> ranges;
    for (const auto& line : plan.switches) {
      if (line.nodes.empty()) continue;
      ranges[line.name] = {units_.size()};
      units_.push_back(line.nodes);
    }
    for (auto line = plan.switches.rbegin(); line != plan.switches.rend(); ++line) {  // children before parents
      auto& range = ranges[line->name];
      for (const auto& child : line->switches) range.insert(range.end(), ranges[child].begin(), ranges[child].end());
      ranges_.push_back(range);
    }
    std::ranges::reverse(ranges_);
  }

  void neighbours(const Plan& plan) {
    for (const auto& block : plan.blocks) units_.push_back(block.nodes);
    for (const auto size : plan.block_sizes) {
      const auto width = static_cast<std::size_t>(size / plan.block_sizes.front());
      for (std::size_t from = 0; from < units_.size(); from += width) {
        Range range;
        for (auto at = from; at < std::min(from + width, units_.size()); ++at) range.push_back(at);
        ranges_.push_back(std::move(range));
      }
    }
  }

  [[nodiscard]] std::size_t idle_in(const Range& range) const {
    std::size_t sum = 0;
    for (const auto at : range) sum += units_[at].size();
    return sum;
  }

  // The smallest range with room; of several the fullest.
  [[nodiscard]] const Range* room_for(std::size_t count) const {
    const Range* best = nullptr;
    std::size_t least = 0;
    for (const auto& range : ranges_) {
      if (best != nullptr && range.size() > best->size()) break;
      const auto idle = idle_in(range);
      if (idle < count || (best != nullptr && idle >= least)) continue;
      best = &range;
      least = idle;
    }
    return best;
  }

  // The one that holds the rest and leaves least over; else the one that has most.
  [[nodiscard]] std::size_t next_unit(const Range& range, std::size_t rest) const {
    auto best = range.front();
    for (const auto at : range) {
      const auto now = units_[at].size(), then = units_[best].size();
      const bool better = then >= rest ? now >= rest && now < then : now > then;
      if (better) best = at;
    }
    return best;
  }

  Units units_;
  std::vector<Range> ranges_;
};

Result<std::size_t> number_of(std::string_view text, std::size_t most) {
  std::size_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || out == 0 || out > most)
    return fail(ErrorCode::kInvalid, "'{}' is no number from 1 to {}", text.substr(0, 40), most);
  return out;
}

Result<void> add_word(std::string_view word, std::vector<std::size_t>& out) {
  const auto times = word.find('x');
  const auto size = number_of(word.substr(0, times), slurm::kNodeTable);
  if (!size) return fail(ErrorCode::kInvalid, "{}: SIZE or SIZExCOUNT was expected", size.error().message);
  const auto count =
      times == std::string_view::npos ? Result<std::size_t>(1) : number_of(word.substr(times + 1), kMostJobs);
  if (!count) return fail(ErrorCode::kInvalid, "{}: SIZExCOUNT was expected", count.error().message);
  if (out.size() + *count > kMostJobs) return fail(ErrorCode::kInvalid, "a mix has at most {} jobs", kMostJobs);
  out.insert(out.end(), *count, *size);
  return {};
}

}  // namespace

Result<std::vector<std::size_t>> read_mix(std::string_view text) {
  std::vector<std::size_t> out;
  Result<void> read;
  for_each_line(text, [&](std::string_view line, std::size_t) {
    line = line.substr(0, line.find('#'));
    while (read && !line.empty()) {
      const auto word = line.substr(0, line.find_first_of(", \t\r"));
      line.remove_prefix(std::min(word.size() + 1, line.size()));
      if (!word.empty()) read = add_word(word, out);
    }
  });
  if (!read) return tl::unexpected(read.error());
  if (out.empty()) return fail(ErrorCode::kInvalid, "the mix has no job: give sizes, such as 16x2,8,2x20");
  return out;
}

Placement place(const Plan& plan, const std::vector<std::string>& nodes, const std::vector<std::size_t>& mix) {
  Placer placer(plan, nodes);
  Placement out;
  for (const auto size : mix) {
    auto taken = placer.take(size);
    if (taken.empty())
      out.waiting.push_back(size);
    else
      out.jobs.push_back({fmt::format("{}", out.jobs.size() + out.waiting.size() + 1), std::move(taken)});
  }
  out.idle = placer.idle();
  return out;
}

}  // namespace espalier::topology
