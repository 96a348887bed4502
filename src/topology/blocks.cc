#include "topology/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "slurm/hostlist.h"
#include "topology/order.h"
#include "topology/switch_name.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMaxNotes = 5;
constexpr std::string_view kPadding = "pad_";

// Seats members in blocks, one call of plan_blocks.
class Seating {
 public:
  Seating(const std::vector<Member>& members, const BlockRules& rules, Memory& memory, std::vector<std::string>& notes)
      : members_(in_order(members)), rules_(rules), memory_(memory), notes_(notes) {}

  std::vector<Block> blocks() {
    adopt_memory();
    sort_out();
    declare_nominal();
    bind_domains();
    sit_located();
    sit_waiting();
    trim();
    return written_out();
  }

 private:
  struct Seat {
    std::vector<const Member*> nodes;
  };

  [[nodiscard]] std::size_t base() const { return static_cast<std::size_t>(rules_.base_size); }
  [[nodiscard]] bool has_room(std::size_t at) const { return seats_[at].nodes.size() < base(); }
  [[nodiscard]] int number_of(const Member& member) const { return (member.number - 1) / rules_.base_size + 1; }

  static std::string key(std::string_view group, int number) { return fmt::format("{}/{}", group, number); }

  void adopt_memory() {
    for (std::size_t i = 0; i < memory_.blocks.size(); ++i) index(i);
    seats_.resize(memory_.blocks.size());
  }

  void index(std::size_t at) {
    const auto& block = memory_.blocks[at];
    names_.reserve(block.name);
    if (block.number > 0) by_seat_.emplace(key(block.group, block.number), at);
    if (!block.domain.empty()) by_domain_.emplace(block.domain, at);
    auto& last = last_number_[block.group];
    last = std::max(last, block.number);
    of_group_[block.group].push_back(at);
  }

  std::size_t add(std::string_view id, std::string_view group, int number) {
    memory_.blocks.push_back({names_.name_for(id), std::string(group), number, ""});
    seats_.emplace_back();
    index(memory_.blocks.size() - 1);
    return memory_.blocks.size() - 1;
  }

  void sort_out() {
    for (const auto* member : members_) {
      if (class_of_type(member->instance_type) != TopologyClass::block && !known_domain(*member)) {
        off_fabric_.push_back(member);
      } else if (known_domain(*member)) {
        located_.push_back(member);
        alive_.insert(std::string(domain_of(*member->position)));
      } else {
        waiting_.push_back(member);
      }
    }
  }

  static bool known_domain(const Member& member) { return member.position && !domain_of(*member.position).empty(); }

  // Thousands of members share a few types.
  TopologyClass class_of_type(const std::string& name) {
    const auto [at, added] = classes_.try_emplace(name);
    if (added) at->second = class_of(name);
    return at->second;
  }

  // All blocks of all groups, in the order of the groups: later ones are appended.
  void declare_nominal() {
    std::map<std::string, int, decltype(&slurm::natural_less)> wanted(&slurm::natural_less);
    for (const auto* list : {&located_, &waiting_})
      for (const auto* member : *list)
        if (member->number > 0) {
          auto& most = wanted[member->group];
          most = std::max(most, number_of(*member));
        }
    for (const auto& [group, most] : wanted)
      for (int number = 1; number <= most; ++number) {
        nominal_.insert(key(group, number));
        if (by_seat_.count(key(group, number)) == 0) add(block_id(group, number), group, number);
      }
  }

  static std::string block_id(std::string_view group, int number) { return fmt::format("{}-b{}", group, number); }

  // A block that no living domain has. First a block that never had one: a machine may come back to the others.
  std::optional<std::size_t> free_block(const std::string& group) const {
    const auto found = of_group_.find(group);
    if (found == of_group_.end()) return std::nullopt;
    for (const auto at : found->second)
      if (memory_.blocks[at].domain.empty()) return at;
    for (const auto at : found->second)
      if (is_free(at)) return at;
    return std::nullopt;
  }

  [[nodiscard]] bool is_free(std::size_t at) const {
    const auto& domain = memory_.blocks[at].domain;
    return domain.empty() || alive_.count(domain) == 0;
  }

  void bind_domains() {
    for (const auto* member : located_) {
      const auto domain = std::string(domain_of(*member->position));
      if (by_domain_.count(domain) != 0) continue;
      const auto at = block_for_new_domain(*member, domain);
      auto& block = memory_.blocks[at];
      if (!block.domain.empty()) by_domain_.erase(block.domain);
      block.domain = domain;
      by_domain_[domain] = at;
    }
  }

  std::size_t block_for_new_domain(const Member& member, const std::string& domain) {
    if (member.number == 0) return add(domain, "", 0);
    const auto own = by_seat_.at(key(member.group, number_of(member)));
    if (is_free(own)) return own;
    if (const auto other = free_block(member.group)) return *other;
    return extra_block(member.group);
  }

  std::size_t extra_block(const std::string& group) {
    const int number = last_number_[group] + 1;
    return add(block_id(group.empty() ? "block" : group, number), group, number);
  }

  void sit_located() {
    std::vector<const Member*> left;
    std::map<std::string, int> too_many;
    for (const auto* member : located_) {
      const auto at = by_domain_.at(std::string(domain_of(*member->position)));
      if (has_room(at)) {
        seats_[at].nodes.push_back(member);
        continue;
      }
      ++too_many[std::string(domain_of(*member->position))];
      left.push_back(member);
    }
    for (const auto& [domain, count] : too_many)
      note(fmt::format("NVLink domain {} has {} machines more than the {} of a block: they sit elsewhere", domain,
                       count, base()));
    waiting_.insert(waiting_.end(), left.begin(), left.end());
  }

  void sit_waiting() {
    std::vector<const Member*> left;
    for (const auto* member : waiting_) {
      const auto own = by_seat_.find(key(member->group, member->number == 0 ? 0 : number_of(*member)));
      if (member->number > 0 && has_room(own->second)) {
        seats_[own->second].nodes.push_back(member);
      } else {
        left.push_back(member);
      }
    }
    for (const auto* member : left) seats_[room_for(member->group)].nodes.push_back(member);
  }

  std::size_t room_for(const std::string& group) {
    auto& from = first_room_[group];
    const auto& blocks = of_group_[group];
    for (; from < blocks.size(); ++from)
      if (has_room(blocks[from])) return blocks[from];
    return extra_block(group);
  }

  // Blocks at the end that nobody needs any more shift nothing when they go; one before others stays, empty.
  void trim() {
    auto& blocks = memory_.blocks;
    while (!blocks.empty() && seats_[blocks.size() - 1].nodes.empty() &&
           nominal_.count(key(blocks.back().group, blocks.back().number)) == 0) {
      blocks.pop_back();
      seats_.pop_back();
    }
  }

  std::vector<Block> written_out() {
    std::vector<Block> out;
    for (std::size_t i = 0; i < seats_.size(); ++i)
      out.push_back(block_of(memory_.blocks[i].name, std::move(seats_[i].nodes)));
    if (off_fabric_.empty()) return out;
    if (!rules_.equal_blocks) {
      out.push_back(block_of(kOffFabric, std::move(off_fabric_)));
      return out;
    }
    for (std::size_t from = 0; from < off_fabric_.size(); from += base()) {
      const auto first = off_fabric_.begin() + static_cast<std::ptrdiff_t>(from);
      const auto count = std::min(base(), off_fabric_.size() - from);
      out.push_back(block_of(fmt::format("{}-{}", kOffFabric, from / base() + 1),
                             {first, first + static_cast<std::ptrdiff_t>(count)}));
    }
    return out;
  }

  Block block_of(const std::string& name, std::vector<const Member*> nodes) const {
    Block out{name, {}, {}};
    std::ranges::sort(nodes, {}, [this](const Member* m) { return rank_of(m); });
    for (const auto* member : nodes) out.nodes.push_back(member->node_name);
    if (!rules_.short_blocks)
      for (auto i = out.nodes.size(); i < base(); ++i)
        out.padding.push_back(fmt::format("{}{}_{}", kPadding, name, i - out.nodes.size() + 1));
    return out;
  }

  // Members came in natural order of their names.
  [[nodiscard]] std::size_t rank_of(const Member* member) const {
    if (ranks_.empty())
      for (std::size_t i = 0; i < members_.size(); ++i) ranks_.emplace(members_[i], i);
    return ranks_.at(member);
  }

  void note(std::string text) {
    if (notes_.size() < kMaxNotes) notes_.push_back(std::move(text));
  }

  std::vector<const Member*> members_;  // natural order
  const BlockRules& rules_;
  Memory& memory_;
  std::vector<std::string>& notes_;

  std::vector<const Member*> located_, waiting_, off_fabric_;
  std::set<std::string> alive_;    // domains that a machine has
  std::set<std::string> nominal_;  // seats that slots have
  std::vector<Seat> seats_;        // as memory_.blocks
  SwitchNames names_;
  std::unordered_map<std::string, std::size_t> by_seat_, by_domain_;
  std::unordered_map<std::string, int> last_number_;
  std::unordered_map<std::string, std::vector<std::size_t>> of_group_;
  std::unordered_map<std::string, std::size_t> first_room_;
  std::unordered_map<std::string, TopologyClass> classes_;
  mutable std::unordered_map<const Member*, std::size_t> ranks_;
};

// Doublings of the base that at least one window fills.
std::vector<int> sizes_of(const std::vector<Block>& blocks, const BlockRules& rules) {
  std::vector<int> out = {rules.base_size};
  // Measured on 24.11: with a longer block among them, aggregates make jobs of the whole cluster impossible.
  const auto is_long = [&](const Block& b) { return b.nodes.size() > static_cast<std::size_t>(rules.base_size); };
  if (!rules.short_blocks && std::ranges::any_of(blocks, is_long)) return out;
  for (auto size = std::int64_t{rules.base_size} * 2;
       size <= static_cast<std::int64_t>(blocks.size()) * rules.base_size; size *= 2)
    out.push_back(static_cast<int>(size));
  return out;
}

}  // namespace

bool is_padding(std::string_view node_name) { return node_name.starts_with(kPadding); }

std::string_view domain_of(const Position& position) {
  const std::string_view domain = position.domain;
  return domain == "null" || domain == "N/A" ? "" : domain;
}

BlockRules block_rules(const slurm::Version& version, int base_size) {
  const auto& release = slurm::release_of(version);
  return {base_size, release.short_blocks, release.equal_blocks};
}

Plan plan_blocks(const std::vector<Member>& members, std::string because, const BlockRules& rules, Memory& memory,
                 std::vector<std::string>& notes) {
  if (members.empty()) return {Model::flat, "there is no node yet", {}};
  Plan out{Model::block, std::move(because), {}};
  out.blocks = Seating(members, rules, memory, notes).blocks();
  out.block_sizes = sizes_of(out.blocks, rules);
  return out;
}

std::optional<std::string> slot_for(const std::vector<Member>& members, const Memory& memory, std::string_view group,
                                    std::string_view domain, int base_size) {
  std::set<std::string_view> alive;
  std::map<int, const Member*> free;  // by number
  for (const auto& member : members) {
    const auto its = member.position ? domain_of(*member.position) : "";
    if (!its.empty()) alive.insert(its);
    if (member.group == group && member.number > 0 && !member.position) free.emplace(member.number, &member);
  }
  if (free.empty()) return std::nullopt;
  std::map<int, std::string_view> taken;  // block of the group → the living domain that has it
  for (const auto& block : memory.blocks)
    if (block.group == group && alive.count(block.domain) != 0) taken[block.number] = block.domain;

  const Member* unbound = nullptr;
  for (const auto& [number, member] : free) {
    const auto bound = taken.find((number - 1) / base_size + 1);
    if (bound != taken.end() && !domain.empty() && bound->second == domain) return member->node_name;
    if (bound == taken.end() && unbound == nullptr) unbound = member;
  }
  return (unbound != nullptr ? unbound : free.begin()->second)->node_name;
}

std::map<std::string, std::vector<std::string>> nvlink_domains(const std::vector<Member>& members) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto* member : in_order(members)) {
    const auto domain = member->position ? domain_of(*member->position) : "";
    if (!domain.empty()) out[std::string(domain)].push_back(member->node_name);
  }
  return out;
}

}  // namespace espalier::topology
