#include "topology/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "slurm/hostlist.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMaxDifferences = 3;

// One switch or block. Host lists in our own form.
struct Unit {
  std::string nodes;     // of a leaf or block
  std::string switches;  // of an inner switch
  bool operator==(const Unit&) const = default;
};
using Units = std::map<std::string, Unit>;

Units units_of(const Plan& plan) {
  Units out;
  for (const auto& line : plan.switches) out[line.name] = {slurm::compress(line.nodes), slurm::compress(line.switches)};
  for (const auto& block : plan.blocks)
    if (!block.nodes.empty()) out[block.name] = {slurm::compress(block.nodes), ""};
  return out;
}

std::string text_of(const Unit& unit) {
  return unit.switches.empty() ? fmt::format("nodes '{}'", unit.nodes) : fmt::format("switches '{}'", unit.switches);
}

void compare_units(const Plan& wanted, const Plan& shown, std::vector<std::string>& out) {
  const auto* kind = wanted.model == Model::block ? "block" : "switch";
  const auto want = units_of(wanted), have = units_of(shown);
  for (const auto& [name, unit] : want) {
    const auto found = have.find(name);
    if (found == have.end())
      out.push_back(fmt::format("{} {} is missing", kind, name));
    else if (found->second != unit)
      out.push_back(fmt::format("{} {} has {}, planned are {}", kind, name, text_of(found->second), text_of(unit)));
  }
  for (const auto& [name, unit] : have)
    if (want.count(name) == 0) out.push_back(fmt::format("{} {} is not planned", kind, name));
}

std::vector<std::string> block_names(const Plan& plan) {
  std::vector<std::string> out;
  for (const auto& block : plan.blocks) out.push_back(block.name);
  return out;
}

void compare_order(const Plan& wanted, const Plan& shown, std::vector<std::string>& out) {
  if (block_names(wanted) != block_names(shown))
    out.push_back(fmt::format("the order of the blocks is {}, planned is {}", slurm::compress(block_names(shown)),
                              slurm::compress(block_names(wanted))));
  if (!shown.block_sizes.empty() && shown.block_sizes != wanted.block_sizes)
    out.push_back(fmt::format("the block sizes are {}, planned are {}", fmt::join(shown.block_sizes, ","),
                              fmt::join(wanted.block_sizes, ",")));
}

std::vector<std::string> padding_of(const Plan& plan) {
  std::vector<std::string> out;
  for (const auto& block : plan.blocks) out.insert(out.end(), block.padding.begin(), block.padding.end());
  return out;
}

void compare_plans(const Plan& wanted, const Plan& shown, std::vector<std::string>& out) {
  if (wanted.model != shown.model) {
    out.push_back(fmt::format("the model is {}, planned is {}", enum_name(shown.model), enum_name(wanted.model)));
    return;
  }
  const auto pads = padding_of(wanted);
  const auto want = normal(wanted, pads), have = normal(shown, pads);
  compare_units(want, have, out);
  if (wanted.model == Model::block) compare_order(want, have, out);
}

// The topology of that model. Before 25.05, and in files of others, it has no name or another one.
const Shown* find(const std::vector<Shown>& shown, Model model) {
  const auto found = std::ranges::find_if(shown, [model](const Shown& s) { return s.plan.model == model; });
  return found == shown.end() ? nullptr : &*found;
}

const Shown* default_of(const std::vector<Shown>& shown) {
  const auto found = std::ranges::find_if(shown, &Shown::cluster_default);
  return found == shown.end() ? nullptr : &*found;
}

Result<void> as_error(std::vector<std::string> differ) {
  if (differ.empty()) return {};
  const auto count = differ.size();
  if (count > kMaxDifferences) {
    differ.resize(kMaxDifferences);
    differ.push_back(fmt::format("{} more", count - kMaxDifferences));
  }
  return fail(ErrorCode::kConflict, "slurmctld shows another topology than planned: {}", fmt::join(differ, "; "));
}

bool has(const ClusterPlan& plan, Model model) {
  return std::ranges::find(plan.topologies, model, &Plan::model) != plan.topologies.end();
}

bool is_flat(const std::vector<Shown>& shown) {
  const auto* main = default_of(shown);
  return main == nullptr || main->plan.model == Model::flat;
}

}  // namespace

std::vector<std::string> differences(const Plan& wanted, const Plan& shown) {
  std::vector<std::string> out;
  compare_plans(wanted, shown, out);
  return out;
}

std::vector<std::string> differences(const ClusterPlan& plan, const std::vector<Shown>& shown) {
  std::vector<std::string> out;
  const auto* main = default_of(shown);
  if (plan.main().model == Model::flat && !is_flat(shown))
    out.push_back(fmt::format("the model is {}, planned is flat", enum_name(main->plan.model)));
  for (const auto& topology : plan.topologies) {
    if (topology.model == Model::flat && &topology == &plan.main()) continue;
    const auto* found = find(shown, topology.model);
    const bool is_main = &topology == &plan.main();
    if (found == nullptr) {
      if (is_main)
        compare_plans(topology, main == nullptr ? Plan{} : main->plan, out);
      else
        out.push_back(fmt::format("topology {} is missing", enum_name(topology.model)));
      continue;
    }
    if (is_main && found != main)
      out.push_back(fmt::format("topology {} is not the default", enum_name(topology.model)));
    compare_plans(topology, found->plan, out);
  }
  for (const auto& each : shown)
    if (each.plan.model != Model::flat && &each != main && !has(plan, each.plan.model))
      out.push_back(fmt::format("topology {} is not planned", each.name));
  return out;
}

Result<void> compare(const ClusterPlan& plan, const std::vector<Shown>& shown) {
  return as_error(differences(plan, shown));
}

Result<void> compare(const Plan& plan, std::string_view shown) {
  const auto read = read_shown(shown);
  if (!read) return tl::unexpected(read.error());
  ClusterPlan all;
  all.topologies = {plan};
  return compare(all, *read);
}

Result<std::map<std::string, std::string>> read_leaves(std::string_view shown) {
  const auto read = read_shown(shown);
  if (!read) return tl::unexpected(read.error());
  const auto* main = default_of(*read);
  return main == nullptr ? std::map<std::string, std::string>{} : leaves(main->plan);
}

}  // namespace espalier::topology
