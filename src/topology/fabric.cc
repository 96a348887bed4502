#include "topology/fabric.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "slurm/hostlist.h"
#include "topology/switch_name.h"

namespace espalier::topology {
namespace {

using slurm::natural_less;

struct NaturalLess {
  bool operator()(const std::string& a, const std::string& b) const { return natural_less(a, b); }
};

using Path = std::vector<std::string>;  // root first; the last is the leaf
const std::string kTop;                 // as a parent: none, it hangs on the common root

struct Vote {
  int count = 0;
  std::size_t depth = 0;  // the deepest place from which it was given
};

// What the machines say of one switch.
struct Opinions {
  std::map<std::size_t, int> levels;
  std::map<std::string, Vote, NaturalLess> parents;
};

struct Links {
  std::map<std::string, std::vector<std::string>, NaturalLess> inner;   // parent → inner switches
  std::map<std::string, std::vector<std::string>, NaturalLess> leaves;  // parent → leaves
};

// The network nodes without gaps and repetitions.
Path clean_path(const Position& position) {
  Path path;
  for (const auto& id : position.network_nodes)
    if (!id.empty() && (path.empty() || path.back() != id)) path.push_back(id);
  if (path.size() > kMaxLevels) path.erase(path.begin(), path.end() - static_cast<std::ptrdiff_t>(kMaxLevels));
  return path;
}

// Slurm has no switch with both nodes and switches: one that has, gets a leaf of the same id below it.
void part_leaves_from_inner(std::vector<Path>& paths) {
  std::set<std::string> inner;
  for (const auto& path : paths) inner.insert(path.begin(), path.end() - 1);
  for (auto& path : paths)
    if (inner.count(path.back()) != 0) path.push_back(path.back());
}

std::size_t level_of(const Opinions& opinions) {
  std::size_t best = 0;
  int votes = 0;
  for (const auto& [level, count] : opinions.levels) {
    if (count < votes) continue;
    best = level;
    votes = count;
  }
  return best;
}

// The parent with most votes among those that `allowed` lets pass.
template <typename Allowed>
std::string parent_of(const Opinions& opinions, Allowed allowed) {
  const auto* best = &kTop;
  Vote most;
  for (const auto& [parent, vote] : opinions.parents) {
    if (!allowed(parent)) continue;
    if (vote.count < most.count || (vote.count == most.count && vote.depth <= most.depth)) continue;
    best = &parent;
    most = vote;
  }
  return *best;
}

using Census = std::map<std::string, Opinions, NaturalLess>;

void vote(Opinions& on, const Path& path, std::size_t at, int machines) {
  on.levels[at] += machines;
  auto& vote = on.parents[at == 0 ? kTop : path[at - 1]];
  vote.count += machines;
  vote.depth = std::max(vote.depth, at);
}

Links link(const std::vector<Path>& paths, const std::vector<int>& machines) {
  Census inner, leaves;
  for (std::size_t p = 0; p < paths.size(); ++p) {
    const auto& path = paths[p];
    for (std::size_t i = 0; i + 1 < path.size(); ++i) vote(inner[path[i]], path, i, machines[p]);
    vote(leaves[path.back()], path, path.size() - 1, machines[p]);
  }
  std::map<std::string, std::size_t> levels;
  for (const auto& [id, opinions] : inner) levels[id] = level_of(opinions);

  Links links;
  for (const auto& [id, opinions] : inner) {
    const auto above = [&, level = levels[id]](const std::string& parent) {
      return parent == kTop || levels.at(parent) < level;
    };
    links.inner[parent_of(opinions, above)].push_back(id);
  }
  for (const auto& [id, opinions] : leaves)
    links.leaves[parent_of(opinions, [](const std::string&) { return true; })].push_back(id);
  return links;
}

using Names = std::map<std::string, std::string>;

// Builds what hangs below `parent`. The recursion is as deep as the levels: bounded by kMaxLevels.
class Builder {
 public:
  Builder(const Links& links, std::map<std::string, std::vector<std::string>>& nodes) : links_(links), nodes_(nodes) {
    // Leaves choose first: their names are what users see.
    for (const auto& [parent, ids] : links.leaves)
      for (const auto& id : ids) leaf_names_[id] = names_.name_for(id);
    for (const auto& [parent, ids] : links.inner)
      for (const auto& id : ids) inner_names_[id] = names_.name_for(id);
  }

  std::vector<Branch> below(const std::string& parent) {
    std::vector<Branch> out;
    for (const auto& child : children_of(parent)) {
      if (child.is_leaf) {
        out.push_back({leaf_names_[child.id], {}, std::move(nodes_[child.id])});
        continue;
      }
      auto branches = below(child.id);
      if (branches.size() == 1) out.push_back(std::move(branches.front()));  // a level without a choice
      if (branches.size() > 1) out.push_back({inner_names_[child.id], std::move(branches), {}});
    }
    return out;
  }

 private:
  struct Child {
    std::string id;
    bool is_leaf = false;
  };

  // Ordered by id, not by what is seen of it in the end: a switch that gets a second leaf keeps its place.
  [[nodiscard]] std::vector<Child> children_of(const std::string& parent) const {
    std::vector<Child> out;
    if (const auto ids = links_.leaves.find(parent); ids != links_.leaves.end())
      for (const auto& id : ids->second) out.push_back({id, true});
    if (const auto ids = links_.inner.find(parent); ids != links_.inner.end())
      for (const auto& id : ids->second) out.push_back({id, false});
    std::ranges::sort(out, [](const Child& a, const Child& b) {
      return a.id == b.id ? a.is_leaf && !b.is_leaf : natural_less(a.id, b.id);
    });
    return out;
  }

  const Links& links_;
  std::map<std::string, std::vector<std::string>>& nodes_;
  SwitchNames names_;
  Names leaf_names_;
  Names inner_names_;
};

struct SamePath {
  std::size_t operator()(const Path* path) const {
    std::size_t hash = 0;
    for (const auto& id : *path) hash = hash * 31 + std::hash<std::string>()(id);
    return hash;
  }
  bool operator()(const Path* a, const Path* b) const { return *a == *b; }
};

// The machines of a leaf say the same: they are heard once. Groups in the order of their first members.
std::vector<std::vector<const Member*>> by_position(const std::vector<const Member*>& located) {
  std::vector<std::vector<const Member*>> out;
  std::unordered_map<const Path*, std::size_t, SamePath, SamePath> at;
  const Path* last = nullptr;
  std::size_t group = 0;
  for (const auto* member : located) {
    const auto* path = &member->position->network_nodes;
    if (last == nullptr || *last != *path) {
      group = at.try_emplace(path, out.size()).first->second;
      if (group == out.size()) out.emplace_back();
    }
    last = path;
    out[group].push_back(member);
  }
  return out;
}

}  // namespace

bool is_located(const Member& member) {
  return member.position && !member.position->network_nodes.empty() && !member.position->network_nodes.back().empty();
}

std::vector<Branch> grow(const std::vector<const Member*>& located) {
  if (located.empty()) return {};
  std::vector<Path> paths;
  std::vector<int> machines;  // of each path
  std::map<std::string, std::vector<std::string>> nodes;
  for (const auto& group : by_position(located)) {
    paths.push_back(clean_path(*group.front()->position));
    machines.push_back(static_cast<int>(group.size()));
    auto& names = nodes[paths.back().back()];
    names.reserve(names.size() + group.size());
    for (const auto* member : group) names.push_back(member->node_name);
  }
  part_leaves_from_inner(paths);
  for (auto& [leaf, names] : nodes)
    if (!std::ranges::is_sorted(names, natural_less)) std::ranges::sort(names, natural_less);
  return Builder(link(paths, machines), nodes).below(kTop);
}

}  // namespace espalier::topology
