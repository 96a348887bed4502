#include <fmt/format.h>

#include "slurm/hostlist.h"
#include "topology/plan.h"

namespace espalier::topology {
namespace {

// One reader of slurmctld has tripped on files of exactly n pages.
constexpr std::size_t kPage = 4096;

}  // namespace

std::string render(const Plan& plan) {
  if (plan.model == Model::flat) return "";
  std::string out = "# Written by Espalier from the positions of the machines. Changes made here are overwritten.\n";
  for (const auto& line : plan.switches) {
    const bool is_leaf = line.switches.empty();
    out += fmt::format("SwitchName={} {}={}\n", line.name, is_leaf ? "Nodes" : "Switches",
                       slurm::compress(is_leaf ? line.nodes : line.switches));
  }
  if (out.size() % kPage == 0) out += "#\n";
  return out;
}

std::string plugin(const Plan& plan) {
  // 24.11 knows no topology/flat: its own scontrol dies of it.
  return plan.model == Model::flat ? "topology/default" : "topology/tree";
}

}  // namespace espalier::topology
