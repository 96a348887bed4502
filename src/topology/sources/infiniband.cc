#include "topology/sources/infiniband.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "slurm/hostlist.h"
#include "topology/sources/grouping.h"

namespace espalier::topology {
namespace {

constexpr int kNoLevel = -1;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kMaxTreeLevels = 12;

using Set = std::set<std::size_t>;

// ---- hosts

struct Hosts {
  std::map<std::string, std::map<std::size_t, int>> switches;  // host → switch → cables
  std::map<std::size_t, int> adapters;                         // switch → adapters on it, of nameless hosts too
};

// Adapters of one card have the same system GUID: one that has a name names the others.
std::map<std::string, std::string> hosts_by_system(const IbSubnet& subnet) {
  std::map<std::string, std::string> out;
  for (const auto& device : subnet.devices)
    if (const auto host = host_in(device.description); !host.empty() && device.kind == IbKind::host_adapter &&
                                                       device.system.find_first_not_of('0') != std::string::npos)
      out.try_emplace(device.system, host);
  return out;
}

Hosts find_hosts(const IbSubnet& subnet, const std::map<std::string, std::string>& by_guid, Located& out) {
  Hosts hosts;
  std::size_t nameless = 0;
  std::string example;
  const auto by_system = hosts_by_system(subnet);
  for (const auto& device : subnet.devices) {
    if (device.kind != IbKind::host_adapter || is_aggregation_node(device.description)) continue;
    const auto given = by_guid.find(device.guid);
    auto host = given != by_guid.end() ? given->second : host_in(device.description);
    if (const auto same = by_system.find(device.system); host.empty() && same != by_system.end()) host = same->second;
    if (host.empty() && nameless++ == 0) example = device.guid;
    for (const auto& [peer, cables] : device.links) {
      if (subnet.devices[peer].kind != IbKind::fabric_switch) continue;
      ++hosts.adapters[peer];
      if (!host.empty()) hosts.switches[host][peer] += cables;
    }
  }
  if (nameless > 0)
    out.left_out.add(fmt::format(
        "{} adapters, {} the first: the description names no host; a table of names can, by GUID", nameless, example));
  return hosts;
}

// ---- levels, from the hosts up

// A switch with a few hosts above leaves with many is no leaf: a management server hangs on it.
bool is_leaf(const IbSubnet& subnet, const Hosts& hosts, std::size_t at) {
  int leaves = 0, adapters = 0;
  for (const auto& [peer, cables] : subnet.devices[at].links) {
    const auto found = hosts.adapters.find(peer);
    if (subnet.devices[peer].kind != IbKind::fabric_switch || found == hosts.adapters.end()) continue;
    ++leaves;
    adapters += found->second;
  }
  return leaves < 2 || hosts.adapters.at(at) * 2 * leaves > adapters;
}

std::vector<int> find_levels(const IbSubnet& subnet, const Hosts& hosts) {
  std::vector<int> level(subnet.devices.size(), kNoLevel);
  std::deque<std::size_t> next;
  for (const auto& [at, adapters] : hosts.adapters)
    if (is_leaf(subnet, hosts, at)) level[at] = 0, next.push_back(at);
  for (; !next.empty(); next.pop_front())
    for (const auto& [peer, cables] : subnet.devices[next.front()].links)
      if (subnet.devices[peer].kind == IbKind::fabric_switch && level[peer] == kNoLevel)
        level[peer] = level[next.front()] + 1, next.push_back(peer);
  return level;
}

// ---- the tree: groups of switches, each level from the one below

struct Group {
  std::vector<std::size_t> switches;  // what it is made of
  std::string name;
  std::size_t parent = kNone;
};

class Tree {
 public:
  Tree(const IbSubnet& subnet, const Hosts& hosts) : subnet_(subnet), level_(find_levels(subnet, hosts)) {
    count_names();
    group_leaves(hosts);
    std::size_t from = 0;
    for (std::size_t depth = 1; depth < kMaxTreeLevels && from < groups_.size(); ++depth) from = group_level(from);
  }

  // The group whose switches the host has most cables to. tied: another has as many.
  [[nodiscard]] std::size_t group_of(const std::map<std::size_t, int>& switches, bool& tied) const {
    std::map<std::size_t, int> votes;
    for (const auto& [at, cables] : switches)
      if (const auto group = group_of_switch_.find(at); group != group_of_switch_.end()) votes[group->second] += cables;
    std::size_t best = kNone;
    for (const auto& [group, count] : votes)
      if (best == kNone || count > votes[best]) best = group;
    tied = std::ranges::count_if(votes, [&](const auto& vote) { return vote.second == votes[best]; }) > 1;
    return best;
  }

  [[nodiscard]] std::vector<std::string> path(std::size_t group) const {
    std::vector<std::string> out;
    for (; group != kNone && out.size() <= kMaxTreeLevels; group = groups_[group].parent)
      out.insert(out.begin(), groups_[group].name);
    return out;
  }

 private:
  void group_leaves(const Hosts& hosts) {
    std::vector<std::size_t> leaves;
    std::map<std::size_t, std::size_t> index;
    for (const auto& [at, adapters] : hosts.adapters)
      if (level_[at] == 0) index[at] = leaves.size(), leaves.push_back(at);
    std::vector<Set> sets(leaves.size());
    std::size_t number = 0;
    for (const auto& [host, switches] : hosts.switches) {
      for (const auto& [at, cables] : switches)
        if (level_[at] == 0) sets[index[at]].insert(number);
      ++number;
    }
    add_groups(leaves, group_by_shared(sets));
  }

  // The groups above groups_[from …]; returns where they begin.
  std::size_t group_level(std::size_t from) {
    const auto to = groups_.size();
    std::vector<Set> uppers(to - from);
    for (std::size_t i = from; i < to; ++i) uppers[i - from] = uppers_of(groups_[i]);
    const auto set = group_by_shared(uppers);
    std::map<std::size_t, std::map<std::size_t, int>> votes;  // upper switch → set → groups that know it
    for (std::size_t i = 0; i < uppers.size(); ++i)
      for (const auto at : uppers[i]) ++votes[at][set[i]];
    std::map<std::size_t, Group> made;
    for (const auto& [at, by_set] : votes)
      made[std::ranges::max_element(by_set, {}, [](const auto& v) { return v.second; })->first].switches.push_back(at);
    std::map<std::size_t, std::size_t> numbers;
    for (auto& [of, group] : made) numbers[of] = groups_.size(), add(std::move(group));
    for (std::size_t i = 0; i < uppers.size(); ++i)
      if (const auto parent = numbers.find(set[i]); parent != numbers.end()) groups_[from + i].parent = parent->second;
    return to;
  }

  [[nodiscard]] Set uppers_of(const Group& group) const {
    Set out;
    for (const auto at : group.switches)
      for (const auto& [peer, cables] : subnet_.devices[at].links)
        if (level_[peer] == level_[at] + 1) out.insert(peer);
    return out;
  }

  void add_groups(const std::vector<std::size_t>& switches, const std::vector<std::size_t>& group) {
    std::map<std::size_t, Group> made;
    for (std::size_t i = 0; i < switches.size(); ++i) made[group[i]].switches.push_back(switches[i]);
    for (auto& [number, each] : made) add(std::move(each));
  }

  // It is called by the first of its switches.
  void add(Group group) {
    for (const auto at : group.switches) {
      group_of_switch_[at] = groups_.size();
      const auto name = name_of(at);
      if (group.name.empty() || slurm::natural_less(name, group.name)) group.name = name;
    }
    groups_.push_back(std::move(group));
  }

  void count_names() {
    for (const auto& device : subnet_.devices)
      if (device.kind == IbKind::fabric_switch) ++names_[switch_in(device.description)];
  }
  // Its description when no other switch has the same, else its GUID.
  [[nodiscard]] std::string name_of(std::size_t at) const {
    const auto name = switch_in(subnet_.devices[at].description);
    return name.empty() || names_.at(name) > 1 ? "ib-" + subnet_.devices[at].guid : name;
  }

  const IbSubnet& subnet_;
  std::vector<int> level_;
  std::map<std::string, int> names_;
  std::vector<Group> groups_;
  std::map<std::size_t, std::size_t> group_of_switch_;
};

}  // namespace

Located locate(const IbSubnet& subnet, const std::map<std::string, std::string>& by_guid) {
  Located out;
  out.left_out.add_all(subnet.left_out, "");
  const auto hosts = find_hosts(subnet, by_guid, out);
  const Tree tree(subnet, hosts);
  for (const auto& [host, switches] : hosts.switches) {
    bool tied = false;
    const auto group = tree.group_of(switches, tied);
    if (group == kNone || !has_room(out, host)) continue;
    out.positions[host].network_nodes = tree.path(group);
    if (!tied) continue;
    out.doubtful.insert(host);
    out.left_out.add(
        fmt::format("{}: as many cables to {} as elsewhere", host, out.positions[host].network_nodes.back()));
  }
  return out;
}

Result<Located> read_ibnetdiscover(std::string_view text, const std::map<std::string, std::string>& hosts) {
  const auto subnet = parse_ibnetdiscover(text);
  if (subnet.devices.empty())
    return fail(ErrorCode::kInvalid, "no switch and no adapter: is it output of ibnetdiscover?");
  return locate(subnet, hosts);
}

}  // namespace espalier::topology
