#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "topology/plan.h"
#include "topology/switch_name.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMaxProblems = 5;
constexpr int kMaxDepth = 20;
constexpr std::size_t kPage = 4096;

// What slurmctld 24.11 refuses ("fatal") or takes with a warning and then leaves nodes without work.
class Judge {
 public:
  Judge(const Plan& plan, const std::vector<Member>& members) : plan_(plan), members_(members) {}

  std::vector<std::string> problems() {
    if (plan_.switches.empty()) say("there is no switch: slurmctld would crash later");
    names();
    contents();
    hierarchy();
    coverage();
    if (render(plan_).size() % kPage == 0) say("the file's size is a multiple of 4096 bytes");
    return std::move(problems_);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void names() {
    for (const auto& line : plan_.switches) {
      if (!by_name_.emplace(line.name, &line).second) say("switch {} is there twice", line.name);
      if (!is_slurm_name(line.name)) say("'{}' is no name for a switch", line.name.substr(0, 80));
    }
  }

  void contents() {
    for (const auto& line : plan_.switches) {
      if (line.nodes.empty() && line.switches.empty()) say("switch {} has neither nodes nor switches", line.name);
      if (!line.nodes.empty() && !line.switches.empty()) say("switch {} has both nodes and switches", line.name);
      for (const auto& child : line.switches) {
        if (by_name_.count(child) == 0) say("switch {} has a child {} that does not exist", line.name, child);
        if (const auto [at, added] = parents_.emplace(child, line.name); !added)
          say("switch {} hangs on {} and on {}", child, at->second, line.name);
      }
    }
  }

  // Every switch must reach the one root on its way up, in few enough steps.
  void hierarchy() {
    std::set<std::string> roots;
    for (const auto& line : plan_.switches) {
      std::string at = line.name;
      int depth = 0;
      for (auto up = parents_.find(at); up != parents_.end() && depth <= kMaxDepth; up = parents_.find(at)) {
        at = up->second;
        ++depth;
      }
      if (depth > kMaxDepth)
        say("switch {} hangs in a circle or deeper than {} levels", line.name, kMaxDepth);
      else
        roots.insert(at);
    }
    if (roots.size() > 1) say("there is no common root, only {}: jobs cannot span them", fmt::join(roots, ", "));
  }

  void coverage() {
    std::set<std::string> known;
    for (const auto& member : members_) known.insert(member.node_name);
    std::map<std::string, std::string> leaf;
    for (const auto& line : plan_.switches) {
      for (const auto& node : line.nodes) {
        if (known.count(node) == 0) say("node {} on {} is not in slurm.conf", node, line.name);
        if (const auto [at, added] = leaf.emplace(node, line.name); !added)
          say("node {} is on {} and on {}", node, at->second, line.name);
      }
    }
    for (const auto& node : known)
      if (leaf.count(node) == 0) say("node {} is on no leaf: jobs of several nodes would never get it", node);
  }

  const Plan& plan_;
  const std::vector<Member>& members_;
  std::map<std::string, const Switch*> by_name_;
  std::map<std::string, std::string> parents_;  // child → parent
  std::vector<std::string> problems_;
};

}  // namespace

Result<void> check(const Plan& plan, const std::vector<Member>& members) {
  if (plan.model == Model::block)
    return fail(ErrorCode::kInvalid, "a block topology cannot be written for Slurm 24.11 here; plan a tree");
  if (plan.model == Model::flat) {
    if (plan.switches.empty()) return {};
    return fail(ErrorCode::kInvalid, "a flat topology has no switches, this plan has {}", plan.switches.size());
  }
  auto problems = Judge(plan, members).problems();
  if (problems.empty()) return {};
  const auto count = problems.size();
  problems.resize(std::min(count, kMaxProblems));
  return fail(ErrorCode::kInvalid, "slurmctld would refuse this topology or lose nodes by it ({} problems): {}", count,
              fmt::join(problems, "; "));
}

}  // namespace espalier::topology
