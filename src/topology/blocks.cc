#include "topology/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "slurm/hostlist.h"
#include "topology/order.h"
#include "topology/switch_name.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMaxNotes = 5;
constexpr std::string_view kPadding = "pad_";
constexpr std::size_t kMaxSizes = 16;  // as many does slurmctld read

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Seats members in blocks, one call of plan_blocks. Members are numbered in natural order, blocks as in the memory.
class Seating {
 public:
  Seating(const Ordered& members, const BlockRules& rules, Memory& memory, std::vector<std::string>& notes)
      : members_(members), rules_(rules), memory_(memory), notes_(notes) {}

  std::vector<Block> blocks() {
    for (std::size_t i = 0; i < memory_.blocks.size(); ++i) index(i);
    seats_.resize(memory_.blocks.size());
    sort_out();
    declare_nominal();
    bind_domains();
    sit_located();
    sit_waiting();
    trim();
    return written_out();
  }

 private:
  using Nodes = std::vector<std::size_t>;

  struct Group {
    std::vector<std::size_t> blocks;   // all of it, in order
    std::vector<std::size_t> by_seat;  // number - 1 → block
    int last = 0;                      // the highest number of a block
    int slots = 0;                     // the highest number of a slot
    std::size_t first_room = 0;        // blocks before it are full
  };

  struct Domain {
    std::string_view name;  // a member's
    std::size_t block = kNone;
    Nodes nodes;
  };

  [[nodiscard]] std::size_t base() const { return static_cast<std::size_t>(rules_.base_size); }
  [[nodiscard]] bool has_room(std::size_t at) const { return seats_[at].size() < base(); }
  [[nodiscard]] int number_of(int slot) const { return (slot - 1) / rules_.base_size + 1; }

  // Neighbours are of one group.
  Group& group(const std::string& name) {
    if (last_group_ == nullptr || *last_group_name_ != name) {
      const auto found = groups_.try_emplace(name).first;
      last_group_name_ = &found->first;
      last_group_ = &found->second;
    }
    return *last_group_;
  }

  void index(std::size_t at) {
    const auto& block = memory_.blocks[at];
    names_.reserve(block.name);
    auto& its = group(block.group);
    its.blocks.push_back(at);
    its.last = std::max(its.last, block.number);
    if (block.number <= 0) return;
    const auto seat = static_cast<std::size_t>(block.number);
    if (its.by_seat.size() < seat) its.by_seat.resize(seat, kNone);
    its.by_seat[seat - 1] = at;
  }

  std::size_t add(std::string_view id, const std::string& of_group, int number) {
    memory_.blocks.push_back({names_.name_for(id), of_group, number, ""});
    seats_.emplace_back();
    index(memory_.blocks.size() - 1);
    return memory_.blocks.size() - 1;
  }

  // Who has a domain, who waits for one, who will never have one.
  void sort_out() {
    ClassOf class_of;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const auto& member = *members_[i];
      const auto domain = member.position ? domain_of(*member.position) : std::string_view();
      if (domain.empty() && class_of(member.instance_type) != TopologyClass::block) {
        off_fabric_.push_back(i);
        continue;
      }
      if (member.number > 0) {
        auto& its = group(member.group);
        its.slots = std::max(its.slots, member.number);
      }
      if (domain.empty())
        waiting_.push_back(i);
      else
        domain_at(domain).nodes.push_back(i);
    }
  }

  Domain& domain_at(std::string_view name) {
    const auto [found, added] = domain_index_.try_emplace(name, domains_.size());
    if (added) domains_.push_back({name, kNone, {}});
    return domains_[found->second];
  }

  // All blocks of all groups, in the order of the groups: later ones are appended.
  void declare_nominal() {
    std::vector<std::string> groups;
    for (const auto& [name, its] : groups_)
      if (its.slots > 0) groups.push_back(name);
    std::ranges::sort(groups, slurm::natural_less);
    for (const auto& name : groups)
      for (int number = 1; number <= number_of(group(name).slots); ++number) {
        const auto& seats = group(name).by_seat;
        const auto at = static_cast<std::size_t>(number - 1);
        if (at >= seats.size() || seats[at] == kNone) add(block_id(name, number), name, number);
      }
  }

  static std::string block_id(std::string_view name, int number) { return fmt::format("{}-b{}", name, number); }

  void bind_domains() {
    for (std::size_t i = 0; i < memory_.blocks.size(); ++i)
      if (const auto found = domain_index_.find(memory_.blocks[i].domain); found != domain_index_.end())
        domains_[found->second].block = i;
    for (auto& domain : domains_) {  // in the order of their first machines
      if (domain.block != kNone) continue;
      domain.block = block_for_new(domain);
      memory_.blocks[domain.block].domain = domain.name;
    }
  }

  // No domain that a machine has.
  [[nodiscard]] bool is_free(std::size_t at) const {
    const auto& domain = memory_.blocks[at].domain;
    return domain.empty() || domain_index_.count(domain) == 0;
  }

  std::size_t block_for_new(const Domain& domain) {
    const auto& first = *members_[domain.nodes.front()];
    if (first.number == 0) return add(domain.name, "", 0);
    const auto& its = group(first.group);
    const auto own = its.by_seat[static_cast<std::size_t>(number_of(first.number) - 1)];
    if (is_free(own)) return own;
    // Rather one that never had a domain: the machines of the others may come back.
    for (const auto at : its.blocks)
      if (memory_.blocks[at].domain.empty()) return at;
    for (const auto at : its.blocks)
      if (is_free(at)) return at;
    return extra_block(first.group);
  }

  std::size_t extra_block(const std::string& of_group) {
    const int number = group(of_group).last + 1;
    return add(block_id(of_group.empty() ? "block" : of_group, number), of_group, number);
  }

  void sit_located() {
    for (auto& domain : domains_) {
      const auto fit = std::min(domain.nodes.size(), base());
      const auto end = domain.nodes.begin() + static_cast<std::ptrdiff_t>(fit);
      seats_[domain.block].assign(domain.nodes.begin(), end);
      if (end == domain.nodes.end()) continue;
      left_.insert(left_.end(), end, domain.nodes.end());
      note(fmt::format("NVLink domain {} has {} machines more than the {} of a block: they sit elsewhere", domain.name,
                       domain.nodes.size() - fit, base()));
    }
  }

  void sit_waiting() {
    std::ranges::sort(left_);
    Nodes late;
    for (const auto* list : {&waiting_, &left_})
      for (const auto node : *list)
        if (!sit_at_home(node)) late.push_back(node);
    for (const auto node : late) seats_[room_for(members_[node]->group)].push_back(node);
  }

  bool sit_at_home(std::size_t node) {
    const auto& member = *members_[node];
    if (member.number == 0) return false;
    const auto home = group(member.group).by_seat[static_cast<std::size_t>(number_of(member.number) - 1)];
    if (!has_room(home)) return false;
    seats_[home].push_back(node);
    return true;
  }

  std::size_t room_for(const std::string& of_group) {
    auto& its = group(of_group);
    for (; its.first_room < its.blocks.size(); ++its.first_room)
      if (has_room(its.blocks[its.first_room])) return its.blocks[its.first_room];
    return extra_block(of_group);
  }

  // Blocks at the end that nobody needs any more shift nothing when they go; one before others stays, empty.
  void trim() {
    auto& blocks = memory_.blocks;
    while (!blocks.empty() && seats_[blocks.size() - 1].empty() && !is_nominal(blocks.back())) {
      blocks.pop_back();
      seats_.pop_back();
    }
  }

  bool is_nominal(const KnownBlock& block) {
    const auto slots = group(block.group).slots;
    return block.number > 0 && slots > 0 && block.number <= number_of(slots);
  }

  std::vector<Block> written_out() {
    std::vector<Block> out;
    out.reserve(seats_.size() + 1);
    for (std::size_t i = 0; i < seats_.size(); ++i) out.push_back(block_of(memory_.blocks[i].name, seats_[i]));
    if (off_fabric_.empty()) return out;
    if (!rules_.equal_blocks) {
      out.push_back(block_of(kOffFabric, off_fabric_));
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

  Block block_of(const std::string& name, Nodes nodes) const {
    Block out{name, {}, {}};
    out.nodes.reserve(nodes.size());
    std::ranges::sort(nodes);
    for (const auto node : nodes) out.nodes.push_back(members_[node]->node_name);
    if (!rules_.short_blocks)
      for (auto i = out.nodes.size(); i < base(); ++i)
        out.padding.push_back(fmt::format("{}{}_{}", kPadding, name, i - out.nodes.size() + 1));
    return out;
  }

  void note(std::string text) {
    if (notes_.size() < kMaxNotes) notes_.push_back(std::move(text));
  }

  const Ordered& members_;
  const BlockRules& rules_;
  Memory& memory_;
  std::vector<std::string>& notes_;

  Nodes waiting_, off_fabric_;
  Nodes left_;  // located, and no seat in their own block
  std::vector<Domain> domains_;
  std::unordered_map<std::string_view, std::size_t> domain_index_;
  std::unordered_map<std::string, Group> groups_;
  const std::string* last_group_name_ = nullptr;
  Group* last_group_ = nullptr;
  std::vector<Nodes> seats_;  // of each block
  SwitchNames names_;
};

// Doublings of the base until the last holds all: slurmctld refuses a job that is larger than the largest aggregate,
// however many nodes there are. A longer block counts with its nodes, which the last one must hold too.
std::vector<int> sizes_of(const std::vector<Block>& blocks, const BlockRules& rules) {
  const auto base = static_cast<std::size_t>(rules.base_size);
  std::size_t all = 0;
  for (const auto& block : blocks) all += std::max(base, block.nodes.size());
  std::vector<int> out = {rules.base_size};
  for (auto size = base; size < all && out.size() < kMaxSizes;) out.push_back(static_cast<int>(size *= 2));
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
  return plan_blocks(in_order(members), std::move(because), rules, memory, notes);
}

Plan plan_blocks(const Ordered& members, std::string because, const BlockRules& rules, Memory& memory,
                 std::vector<std::string>& notes) {
  if (members.empty()) return {Model::flat, "there is no node yet", {}};
  Plan out{Model::block, std::move(because), {}};
  out.blocks = Seating(members, rules, memory, notes).blocks();
  out.block_sizes = sizes_of(out.blocks, rules);
  return out;
}

std::map<std::string, std::vector<std::string>> nvlink_domains(const std::vector<Member>& members) {
  return nvlink_domains(in_order(members));
}

std::map<std::string, std::vector<std::string>> nvlink_domains(const Ordered& members) {
  std::unordered_map<std::string_view, std::vector<std::string>> nodes;
  for (const auto* member : members)
    if (const auto domain = member->position ? domain_of(*member->position) : ""; !domain.empty())
      nodes[domain].push_back(member->node_name);
  std::map<std::string, std::vector<std::string>> out;
  for (auto& [domain, names] : nodes) out.emplace(domain, std::move(names));
  return out;
}

}  // namespace espalier::topology
