// Random clusters that change at random, on every version: what must hold after each change, and that slurmctld, led by
// our steps alone, ends up with the true fabric. A slurmctld of a few lines stands for the real one; it knows what the
// guide says about files and about `Topology=`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "slurm/hostlist.h"
#include "topology/check.h"
#include "topology/compare.h"
#include "topology/random_cluster_test.h"

namespace espalier::topology {
namespace {

using testing::IsEmpty;

// slurmctld, as far as topologies go.
class Slurmctld {
 public:
  void read(const TopologyFiles& files) {
    auto read = read_file_text(files.yaml.empty() ? files.conf : files.yaml);
    if (!read) RC_FAIL(read.error().message);
    shown_ = std::move(*read);
    for (auto& each : shown_) each.lines.clear();
    for (const auto& [node, topologies] : saved_)
      for (const auto& name : topologies)  // it would not start
        RC_ASSERT(std::ranges::find(shown_, name, &Shown::name) != shown_.end());
  }

  // `Topology=` with nothing.
  void let_go(const std::string& node) { saved_.erase(node); }
  // Of a node that slurm.conf has not any more nothing is kept.
  void forget_all_but(const std::set<std::string>& nodes) {
    std::erase_if(saved_, [&](const auto& item) { return !nodes.contains(item.first); });
  }

  void take(const Move& move) {
    const auto nodes = slurm::expand(move.nodes).value();
    for (const auto& node : nodes) {
      RC_ASSERT(place_of(node) != move.topology);  // that would take it out of block scheduling
      for (auto& each : shown_) {
        for (auto& line : each.plan.switches) std::erase(line.nodes, node);
        for (auto& block : each.plan.blocks) std::erase(block.nodes, node);
      }
      std::string_view rest = move.topology;
      while (!rest.empty()) {
        const auto part = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        saved_[node].emplace(part.substr(0, part.find(':')));
        put(node, part);
      }
    }
  }

  [[nodiscard]] const std::vector<Shown>& shown() const { return shown_; }

 private:
  [[nodiscard]] std::string place_of(const std::string& node) const {
    const auto has = [&](const auto& unit) { return std::ranges::find(unit.nodes, node) != unit.nodes.end(); };
    std::string out;
    for (const auto& each : shown_) {
      const auto line = std::ranges::find_if(each.plan.switches, has);
      const auto block = std::ranges::find_if(each.plan.blocks, has);
      const auto* unit = line != each.plan.switches.end()  ? &line->name
                         : block != each.plan.blocks.end() ? &block->name
                                                           : nullptr;
      if (unit != nullptr) out += fmt::format("{}{}:{}", out.empty() ? "" : ",", each.name, *unit);
    }
    return out;
  }

  void put(const std::string& node, std::string_view part) {
    const auto name = part.substr(0, part.find(':'));
    auto& plan = std::ranges::find(shown_, name, &Shown::name)->plan;
    std::string_view path = part.substr(name.size() + 1), parent;
    while (true) {
      const auto unit = path.substr(0, path.find(':'));
      path.remove_prefix(std::min(unit.size() + 1, path.size()));
      if (const auto block = std::ranges::find(plan.blocks, unit, &Block::name); block != plan.blocks.end())
        return block->nodes.push_back(node);
      auto line = std::ranges::find(plan.switches, unit, &Switch::name);
      if (line == plan.switches.end()) {
        RC_ASSERT(!parent.empty());  // it makes no root
        std::ranges::find(plan.switches, parent, &Switch::name)->switches.emplace_back(unit);
        line = plan.switches.insert(plan.switches.end(), Switch{std::string(unit), {}, {}});
      }
      if (path.empty()) return line->nodes.push_back(node);
      parent = unit;
    }
  }

  std::vector<Shown> shown_;
  std::map<std::string, std::set<std::string>> saved_;  // node → topologies that its saved places name
};

// One cluster with its memory and its slurmctld.
class Story {
 public:
  ClusterPlan follow(Request request) {
    for (const auto& each : slurmctld_.shown()) request.kept.insert(each.plan.model);
    auto plan = plan_cluster(request, memory_);
    keep_leaves_in_use(plan, slurmctld_.shown());
    const auto steps = steps_to(plan, slurmctld_.shown());
    for (const auto& move : steps.moves) slurmctld_.take(move);
    if (!steps.reconfigure.empty()) {
      for (const auto& node : lost_places(plan, slurmctld_.shown())) slurmctld_.let_go(node);
      std::set<std::string> nodes;
      for (const auto& member : request.members) nodes.insert(member.node_name);
      slurmctld_.forget_all_but(nodes);
      slurmctld_.read(render(plan));
      ++reconfigures;
    }
    moves += steps.moves.size();
    return plan;
  }

  [[nodiscard]] const std::vector<Shown>& shown() const { return slurmctld_.shown(); }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  std::size_t moves = 0, reconfigures = 0;

 private:
  Memory memory_;
  Slurmctld slurmctld_;
};

std::vector<std::string> units(const Plan& plan) {
  std::vector<std::string> out;
  for (const auto& line : plan.switches) out.push_back(line.name);
  for (const auto& block : plan.blocks) out.push_back(block.name);
  return out;
}

// The two without what only one of them has.
template <typename Names>
std::pair<Names, Names> common(Names a, Names b) {
  const std::set<std::string> in_a(a.begin(), a.end()), in_b(b.begin(), b.end());
  std::erase_if(a, [&](const auto& name) { return in_b.count(name) == 0; });
  std::erase_if(b, [&](const auto& name) { return in_a.count(name) == 0; });
  return {a, b};
}

void holds(const ClusterPlan& plan, const Request& request) {
  const auto ok = check(plan, request.members);
  if (!ok) RC_FAIL(ok.error().message);
  if (plan.main().model != Model::flat) RC_ASSERT(leaves(plan.main()).size() == request.members.size());
  for (const auto& topology : plan.topologies) {
    std::size_t nodes = 0;
    for (const auto& line : topology.switches) nodes += line.nodes.size();
    for (const auto& block : topology.blocks) nodes += block.nodes.size();
    RC_ASSERT(nodes == leaves(topology).size());  // none twice
  }
}

void reads_back(const ClusterPlan& plan) {
  const auto files = render(plan);
  RC_ASSERT(files.conf.empty() || files.yaml.empty());
  const auto text = files.conf + files.yaml;
  if (text.empty()) return;
  const auto read = read_file_text(text);
  if (!read) RC_FAIL(read.error().message);
  RC_ASSERT(read->size() == plan.topologies.size());
  for (std::size_t i = 0; i < read->size(); ++i) {
    RC_ASSERT(units(read->at(i).plan) == units(plan.topologies[i]));
    RC_ASSERT(differences(plan.topologies[i], read->at(i).plan).empty());
  }
}

// What did not change has kept its name, its order and its place.
void stays(const ClusterPlan& before, const Request& was, const ClusterPlan& after, const Request& now) {
  std::map<std::string, const Member*> old;
  for (const auto& member : was.members) old.emplace(member.node_name, &member);
  for (const auto& topology : after.topologies) {
    const auto found = std::ranges::find(before.topologies, topology.model, &Plan::model);
    if (found == before.topologies.end()) continue;
    const auto [a, b] =
        common(units(normal(*found)), units(normal(topology)));  // an empty leaf has no place of its own
    RC_ASSERT(a == b);
    const auto then = leaves(*found), at = leaves(topology);
    for (const auto& member : now.members) {
      const auto same = old.find(member.node_name);
      if (same == old.end() || !member.position || same->second->position != member.position) continue;
      if (const auto place = at.find(member.node_name); place != at.end())
        RC_ASSERT(place->second == then.at(place->first));
    }
  }
}

RC_GTEST_PROP(ChangeProperty, EveryPlanHoldsWhatIsPromised, ()) {
  const auto version = *any_version();
  World world(*rc::gen::arbitrary<std::uint32_t>(), version);
  Story story;
  auto was = world.request(false);
  auto before = story.follow(was);
  for (int i = 0; i < 10; ++i) {
    world.change();
    const auto now = world.request(false);
    const auto after = story.follow(now);
    holds(after, now);
    reads_back(after);
    stays(before, was, after, now);
    RC_ASSERT(differences(after, story.shown()).empty());  // slurmctld was led there
    RC_ASSERT(steps_to(after, story.shown()).moves.empty());
    before = after;
    was = now;
  }
}

RC_GTEST_PROP(ChangeProperty, ThePlanIsTheSameWhateverTheOrderOfTheMembers, ()) {
  World world(*rc::gen::arbitrary<std::uint32_t>(), *any_version());
  auto request = world.request(false);
  Memory one, other;
  const auto once = render(plan_cluster(request, one));
  std::ranges::reverse(request.members);
  RC_ASSERT(render(plan_cluster(request, other)) == once);
  RC_ASSERT(one == other);
}

// How many of the machines are, as slurmctld has it, on the switch and in the block where they hang.
double agreement(const Request& truth, const Story& story) {
  std::map<std::string, std::string> block_of;  // by domain
  for (const auto& block : story.memory().blocks) block_of[block.domain] = block.name;
  std::set<std::string> all, wrong;
  for (const auto& each : story.shown()) {
    if (each.plan.model == Model::flat) continue;
    const auto at = leaves(each.plan);
    for (const auto& member : truth.members) {
      if (!member.position) continue;
      all.insert(member.node_name);
      const auto found = at.find(member.node_name);
      const bool by_domain = each.plan.model == Model::block;
      if (by_domain && (member.position->domain.empty() || found == at.end())) continue;
      const auto want = by_domain ? block_of[member.position->domain] : member.position->network_nodes.back();
      if (found == at.end() || found->second != want) wrong.insert(member.node_name);
    }
  }
  return all.empty() ? 1.0 : 1.0 - static_cast<double>(wrong.size()) / static_cast<double>(all.size());
}

class Oracle : public testing::TestWithParam<slurm::Version> {};

// What is not told cannot be known: machines that nobody has located yet are a few of all.
TEST_P(Oracle, AgreesWhileThousandThingsHappen) {
  World world(7, GetParam());
  Story story;
  double worst = 1.0, sum = 0;
  for (int i = 0; i < 1000; ++i) {
    world.change();
    if (i % 5 == 4) world.tell_all();
    story.follow(world.request(false));
    const auto now = agreement(world.request(false), story);
    worst = std::min(worst, now);
    sum += agreement(world.request(true), story);
  }
  EXPECT_EQ(worst, 1.0) << "of what was told";
  EXPECT_GE(sum / 1000, 0.99) << "of what is";
  world.tell_all();
  story.follow(world.request(true));
  EXPECT_EQ(agreement(world.request(true), story), 1.0) << "at rest";
  RecordProperty("reconfigures", static_cast<int>(story.reconfigures));
  RecordProperty("moves", static_cast<int>(story.moves));
}

INSTANTIATE_TEST_SUITE_P(Topology, Oracle,
                         testing::Values(slurm::Version{23, 2, 0}, slurm::Version{24, 11, 5}, slurm::Version{26, 5, 5}),
                         [](const auto& each) { return fmt::format("{}_{:02}", each.param.year, each.param.month); });

}  // namespace
}  // namespace espalier::topology
