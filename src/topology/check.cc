#include "topology/check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <unordered_map>

#include "slurm/hostlist.h"
#include "topology/order.h"
#include "topology/switch_name.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMaxNamed = 5;
constexpr std::size_t kMaxProblems = 1000;
constexpr int kMaxDepth = 20;
constexpr std::size_t kPage = 4096;

constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

// The nodes of slurm.conf, numbered. None: not judged. All of 65,536 names are asked for, and half of the time of a
// check went into the nodes of std::unordered_map.
class Declared {
 public:
  explicit Declared(const std::vector<std::string>& names) : names_(names) {
    ids_.reserve(names.size());
    for (std::uint32_t i = 0; i < names.size(); ++i) ids_.emplace(names[i], i);
  }
  [[nodiscard]] bool empty() const { return names_.empty(); }
  [[nodiscard]] std::uint32_t find(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? kNone : found->second;
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool each_once() const { return ids_.size() == names_.size(); }

 private:
  const std::vector<std::string>& names_;
  boost::unordered_flat_map<std::string_view, std::uint32_t> ids_;
};

// Judges one topology.
class Judge {
 public:
  // covered: the nodes that it must have.
  Judge(const Shown& shown, const Declared& declared, const std::vector<std::string>& covered,
        const slurm::Version& version, bool yaml, std::vector<Problem>& out)
      : shown_(shown), declared_(declared), covered_(covered), version_(version), yaml_(yaml), out_(out) {}

  void judge() {
    if (shown_.plan.model == Model::flat) return;
    seats_.resize(declared_.names().size());
    if (shown_.plan.model == Model::tree) tree();
    if (shown_.plan.model == Model::block) blocks();
    coverage();
  }

 private:
  template <typename... Args>
  void say(Fault fault, std::size_t unit, fmt::format_string<Args...> format, Args&&... args) {
    const auto how = severity(fault, version_);
    if (how == Severity::allowed || out_.size() >= kMaxProblems) return;
    out_.push_back({fault, how, shown_.name, unit < shown_.lines.size() ? shown_.lines[unit] : 0,
                    fmt::format(format, std::forward<Args>(args)...)});
  }
  static constexpr std::size_t kWhole = static_cast<std::size_t>(-1);

  void name(const char* kind, const std::string& text, std::size_t unit) {
    const auto shorter = text.substr(0, 80);
    if (!names_.emplace(text, unit).second) say(Fault::duplicate_name, unit, "{} {} is there twice", kind, shorter);
    if (trailing_digits(text) > kMaxTrailingDigits)
      say(Fault::digits_in_name, unit, "'{}' is no name for a {}: too many digits at its end", shorter, kind);
    if (text.size() > kMaxSwitchName)
      say(Fault::long_name, unit, "'{}' is no name for a {}: longer than {}", shorter, kind, kMaxSwitchName);
    if (!has_plain_letters(text)) say(Fault::strange_name, unit, "'{}' is no name for a {}", shorter, kind);
  }

  // ---- trees
  void tree() {
    const auto& switches = shown_.plan.switches;
    if (switches.empty()) say(Fault::nothing, kWhole, "there is no switch: slurmctld would crash later");
    for (std::size_t i = 0; i < switches.size(); ++i) name("switch", switches[i].name, i);
    for (std::size_t i = 0; i < switches.size(); ++i) contents(switches[i], i);
    hierarchy();
  }

  void contents(const Switch& line, std::size_t at) {
    if (line.nodes.empty() && line.switches.empty())
      say(Fault::empty_switch, at, "switch {} has neither nodes nor switches", line.name);
    if (!line.nodes.empty() && !line.switches.empty())
      say(Fault::switch_with_both, at, "switch {} has both nodes and switches{}", line.name,
          yaml_ ? ": the switches are ignored" : "");
    for (const auto& child : line.switches) {
      if (names_.count(child) == 0)
        say(Fault::broken_tree, at, "switch {} has a child {} that does not exist", line.name, child);
      if (const auto [parent, added] = parents_.emplace(child, line.name); !added)
        say(Fault::two_parents, at, "switch {} hangs on {} and on {}", child, parent->second, line.name);
    }
    for (const auto& node : line.nodes) sit(node, line.name, at);
  }

  // Every switch must reach the one root on its way up, in few enough steps. Empty ones count too.
  void hierarchy() {
    std::vector<std::string_view> roots;
    for (std::size_t i = 0; i < shown_.plan.switches.size(); ++i) {
      std::string_view at = shown_.plan.switches[i].name;
      int depth = 0;
      for (auto up = parents_.find(at); up != parents_.end() && depth <= kMaxDepth; up = parents_.find(at)) {
        at = up->second;
        ++depth;
      }
      if (depth > kMaxDepth)
        say(Fault::broken_tree, i, "switch {} hangs in a circle or deeper than {} levels", shown_.plan.switches[i].name,
            kMaxDepth);
      else if (depth == 0)
        roots.push_back(at);
    }
    std::ranges::sort(roots);
    const auto rest = std::ranges::unique(roots);
    roots.erase(rest.begin(), rest.end());
    const auto count = roots.size();
    if (count > kMaxNamed) roots.resize(kMaxNamed);
    if (count > 1)
      say(Fault::no_common_root, kWhole, "there is no common root, only {}: jobs cannot span them",
          fmt::join(roots, ", "));
  }

  // ---- blocks
  void blocks() {
    const auto& plan = shown_.plan;
    say_no_plugin();
    if (plan.blocks.empty()) say(Fault::nothing, kWhole, "there is no block");
    const auto base = plan.block_sizes.empty() ? smallest() : static_cast<std::size_t>(plan.block_sizes.front());
    for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
      name("block", plan.blocks[i].name, i);
      size(plan.blocks[i], base, i);
    }
    for (const auto each : plan.block_sizes)
      if (!is_doubling(each, plan.block_sizes.front()))
        say(Fault::bad_block_sizes, kWhole, "block size {} is no doubling of {}", each, plan.block_sizes.front());
  }

  void say_no_plugin() { say(Fault::no_block_plugin, kWhole, "this version has no block topology"); }

  [[nodiscard]] std::size_t smallest() const {
    std::size_t out = shown_.plan.blocks.empty() ? 0 : shown_.plan.blocks.front().nodes.size();
    for (const auto& block : shown_.plan.blocks) out = std::min(out, block.nodes.size());
    return out;
  }

  // Only nodes that slurm.conf declares count.
  void size(const Block& block, std::size_t base, std::size_t at) {
    std::size_t count = 0;
    for (const auto& node : block.nodes)
      if (sit(node, block.name, at)) ++count;
    if (count == 0)
      say(Fault::empty_block, at, "block {} has no nodes", block.name);
    else if (count < base)
      say(Fault::short_block, at, "block {} has {} nodes, fewer than the {} of a block", block.name, count, base);
    else if (count > base)
      say(Fault::long_block, at, "block {} has {} nodes, more than the {} of a block", block.name, count, base);
  }

  static bool is_doubling(int size, int base) {
    if (base <= 0 || size < base || size % base != 0) return false;
    const auto times = static_cast<unsigned>(size / base);
    return (times & (times - 1)) == 0;
  }

  // ---- nodes
  // False when Slurm does not know the node.
  bool sit(const std::string& node, const std::string& unit, std::size_t at) {
    const auto id = declared_.find(node);
    if (id == kNone && !declared_.empty())
      say(Fault::unknown_node, at, "node {} on {} is not in slurm.conf", node, unit);
    auto& seat = id == kNone ? strangers_[node] : seats_[id];
    if (!seat.empty()) say(Fault::node_twice, at, "node {} is on {} and on {}", node, seat, unit);
    seat = unit;
    return id != kNone || declared_.empty();
  }

  void coverage() {
    std::vector<std::string> left;
    const bool all = &covered_ == &declared_.names() && declared_.each_once();
    for (std::uint32_t i = 0; i < covered_.size(); ++i) {
      const auto id = all ? i : declared_.find(covered_[i]);
      if (id == kNone || seats_[id].empty()) left.emplace_back(covered_[i]);
    }
    const auto* kind = shown_.plan.model == Model::tree ? "leaf" : "block";
    if (!left.empty())
      say(Fault::uncovered_node, kWhole, "{} {} on no {}: jobs of several nodes would never get {}",
          slurm::compress(left), left.size() == 1 ? "is" : "are", kind, left.size() == 1 ? "it" : "them");
  }

  const Shown& shown_;
  const Declared& declared_;
  const std::vector<std::string>& covered_;
  const slurm::Version& version_;
  bool yaml_;
  std::vector<Problem>& out_;
  std::unordered_map<std::string_view, std::size_t> names_;
  std::unordered_map<std::string_view, std::string_view> parents_;    // child → parent
  std::vector<std::string_view> seats_;                               // of each declared node: leaf or block
  std::unordered_map<std::string_view, std::string_view> strangers_;  // the same of others
};

// What is wrong between the files, not in one of them.
class Surroundings {
 public:
  Surroundings(const Given& given, const slurm::Version& version, std::vector<Problem>& out)
      : given_(given), version_(version), out_(out) {}

  void judge() {
    if (given_.topologies.empty())
      say(Fault::nothing, "there is no topology in the file");
    else if (given_.topologies.front().bytes > 0 && given_.topologies.front().bytes % kPage == 0)
      say(Fault::whole_pages, "the file's size is a multiple of 4096 bytes");
    if (given_.yaml || given_.topologies.size() > 1)
      say(Fault::too_many_topologies, "this version reads one topology from topology.conf, and no topology.yaml");
    if (given_.yaml_beside) say(Fault::stale_yaml, "a topology.yaml lies beside this topology.conf and wins");
    for (const auto& [partition, name] : given_.partitions)
      if (find(name) == nullptr)
        say(Fault::unknown_topology, fmt::format("partition {} has Topology={}, which is not there", partition, name));
    for (const auto& [node, place] : given_.saved) saved(node, place);
  }

 private:
  void say(Fault fault, std::string text) {
    const auto how = severity(fault, version_);
    if (how != Severity::allowed && out_.size() < kMaxProblems) out_.push_back({fault, how, "", 0, std::move(text)});
  }

  [[nodiscard]] const Shown* find(std::string_view name) const {
    const auto found = std::ranges::find(given_.topologies, name, &Shown::name);
    return found == given_.topologies.end() ? nullptr : &*found;
  }

  // "tree:spine:leaf7,block:b3": the last word is the unit, the first the topology.
  void saved(const std::string& node, std::string_view place) {
    while (!place.empty()) {
      const auto part = place.substr(0, place.find(','));
      place.remove_prefix(std::min(part.size() + 1, place.size()));
      const auto* topology = find(part.substr(0, part.find(':')));
      const auto unit = part.substr(std::min(part.rfind(':') + 1, part.size()));
      if (topology != nullptr && has(topology->plan, unit)) continue;
      say(Fault::unknown_topology, fmt::format("slurmctld saved node {} at {}, which is not there", node, part));
    }
  }

  static bool has(const Plan& plan, std::string_view unit) {
    return std::ranges::find(plan.switches, unit, &Switch::name) != plan.switches.end() ||
           std::ranges::find(plan.blocks, unit, &Block::name) != plan.blocks.end() || plan.model == Model::flat;
  }

  const Given& given_;
  const slurm::Version& version_;
  std::vector<Problem>& out_;
};

// A plan as slurmctld would read it: padding are nodes like others.
Shown as_read(const Plan& plan, std::size_t bytes) {
  Shown out{std::string(enum_name(plan.model)), true, plan, {}, bytes};
  for (auto& block : out.plan.blocks) {
    block.nodes.insert(block.nodes.end(), block.padding.begin(), block.padding.end());
    block.padding.clear();
  }
  return out;
}

Result<void> verdict(const std::vector<Problem>& all) {
  if (all.empty()) return {};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(all.size(), kMaxNamed); ++i) texts.push_back(all[i].text);
  return fail(ErrorCode::kInvalid, "slurmctld would refuse this topology or lose nodes by it ({} problems): {}",
              all.size(), fmt::join(texts, "; "));
}

// Nodes that a topology beside the cluster's default must hold: those whose partitions choose it.
std::vector<std::string> with_blocks(const std::vector<Member>& members) {
  std::vector<std::string> out;
  ClassOf class_of;
  for (const auto& member : members)
    if (class_of(member.instance_type) == TopologyClass::block) out.push_back(member.node_name);
  return out;
}

std::vector<std::string> names_of(const std::vector<Member>& members) {
  std::vector<std::string> out;
  out.reserve(members.size());
  for (const auto& member : members) out.push_back(member.node_name);
  return out;
}

}  // namespace

std::vector<Problem> problems(const Given& given, const slurm::Version& version) {
  std::vector<Problem> out;
  Surroundings(given, version, out).judge();
  const Declared declared(given.nodes);
  for (const auto& topology : given.topologies) {
    const auto part = given.covered.find(topology.name);
    const auto& covered = part == given.covered.end() ? given.nodes : part->second;
    Judge(topology, declared, covered, version, given.yaml, out).judge();
  }
  return out;
}

Result<void> check(const ClusterPlan& plan, const std::vector<Member>& members) {
  const auto files = render(plan);
  if (plan.main().model == Model::flat && plan.topologies.size() == 1) return check(plan.main(), members, plan.version);
  Given given;
  given.yaml = !files.yaml.empty();
  given.nodes = names_of(members);
  for (auto& name : padding(plan)) given.nodes.push_back(std::move(name));
  const auto bytes = files.conf.size() + files.yaml.size();
  for (const auto& topology : plan.topologies) {
    given.topologies.push_back(as_read(topology, bytes));
    if (&topology != &plan.main() && topology.model == Model::block)
      given.covered[given.topologies.back().name] = with_blocks(members);
  }
  for (const auto& [partition, model] : plan.partitions) given.partitions[partition] = enum_name(model);
  return verdict(problems(given, plan.version));
}

Result<void> check(const Plan& plan, const std::vector<Member>& members, const slurm::Version& version) {
  if (plan.model == Model::flat) {
    if (plan.switches.empty() && plan.blocks.empty()) return {};
    return fail(ErrorCode::kInvalid, "a flat topology has no switches, this plan has {}", plan.switches.size());
  }
  Given given;
  given.nodes = names_of(members);
  for (const auto& block : plan.blocks)
    given.nodes.insert(given.nodes.end(), block.padding.begin(), block.padding.end());
  given.topologies = {as_read(plan, render(plan, version).size())};
  return verdict(problems(given, version));
}

}  // namespace espalier::topology
