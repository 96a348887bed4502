#include "topology/check.h"

namespace espalier::topology {

const std::vector<Rule>& rules() {
  constexpr auto ok = Severity::allowed, lose = Severity::warning, die = Severity::fatal;
  static const std::vector<Rule> table = {
      //                             22.05  23.11  24.05  25.05  25.11
      {Fault::duplicate_name, {{die, die, die, die, die}}},
      {Fault::strange_name, {{die, die, die, die, die}}},
      {Fault::long_name, {{ok, ok, die, die, die}}},
      {Fault::digits_in_name, {{die, die, die, die, die}}},
      {Fault::unknown_node, {{lose, lose, lose, lose, lose}}},
      {Fault::uncovered_node, {{lose, lose, lose, lose, lose}}},
      {Fault::node_twice, {{lose, lose, lose, lose, lose}}},
      {Fault::empty_switch, {{die, die, die, ok, ok}}},
      {Fault::switch_with_both, {{die, die, die, die, die}}},
      {Fault::broken_tree, {{die, die, die, die, die}}},
      {Fault::two_parents, {{lose, lose, lose, lose, lose}}},
      {Fault::no_common_root, {{lose, lose, lose, lose, lose}}},
      {Fault::nothing, {{die, die, die, die, die}}},
      {Fault::short_block, {{ok, die, die, ok, ok}}},
      {Fault::long_block, {{ok, die, ok, ok, ok}}},
      {Fault::empty_block, {{ok, die, die, ok, ok}}},
      {Fault::bad_block_sizes, {{ok, ok, die, die, die}}},
      {Fault::no_block_plugin, {{die, ok, ok, ok, ok}}},
      {Fault::too_many_topologies, {{lose, lose, lose, ok, ok}}},
      {Fault::unknown_topology, {{ok, ok, ok, die, die}}},
      {Fault::stale_yaml, {{ok, ok, ok, lose, lose}}},
      {Fault::whole_pages, {{lose, lose, lose, lose, lose}}},
  };
  return table;
}

Severity severity(Fault fault, const slurm::Version& version) {
  std::size_t era = 0;
  for (std::size_t i = 0; i < kEras.size(); ++i)
    if (kEras[i] <= version) era = i;
  for (const auto& rule : rules())
    if (rule.fault == fault) return rule.by_era[era];
  return Severity::fatal;
}

}  // namespace espalier::topology
