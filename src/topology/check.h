// What slurmctld refuses in a topology, or takes and then leaves nodes without work, by version: as data. Pure.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "topology/cluster_plan.h"
#include "topology/shown.h"

namespace espalier::topology {

enum class Fault {
  duplicate_name,       // two switches or two blocks of a name
  strange_name,         // not what Slurm can carry
  long_name,            // more than 64 characters
  digits_in_name,       // 20 or more at the end
  unknown_node,         // not in slurm.conf
  uncovered_node,       // of slurm.conf, in no switch or block
  node_twice,           // in two of them
  empty_switch,         // neither nodes nor switches
  switch_with_both,     // nodes and switches
  broken_tree,          // a child that is not there or is itself, a circle, more than 20 levels
  two_parents,          // a switch that hangs on two
  no_common_root,       // jobs cannot span the parts
  nothing,              // no switch or block at all
  short_block,          // fewer nodes than the base size
  long_block,           // more
  empty_block,          // none
  bad_block_sizes,      // not doublings of the first
  no_block_plugin,      // blocks before there were any
  too_many_topologies,  // a topology.yaml, or several topologies, for a version that reads one topology.conf
  unknown_topology,     // a partition or a saved place names a topology or unit that is not there
  stale_yaml,           // a topology.yaml beside a topology.conf: it wins without a word
  whole_pages,          // the file has exactly n·4096 bytes
};
BOOST_DESCRIBE_ENUM(Fault, duplicate_name, strange_name, long_name, digits_in_name, unknown_node, uncovered_node,
                    node_twice, empty_switch, switch_with_both, broken_tree, two_parents, no_common_root, nothing,
                    short_block, long_block, empty_block, bad_block_sizes, no_block_plugin, too_many_topologies,
                    unknown_topology, stale_yaml, whole_pages)

// fatal: slurmctld does not take the file. warning: it does, and loses nodes, jobs or the wish.
enum class Severity { allowed, warning, fatal };
BOOST_DESCRIBE_ENUM(Severity, allowed, warning, fatal)

// Releases that judge alike: 22.05–23.02, 23.11, 24.05–24.11, 25.05, 25.11 and later.
inline constexpr std::array<slurm::Version, 5> kEras = {{{22, 5}, {23, 11}, {24, 5}, {25, 5}, {25, 11}}};

struct Rule {
  Fault fault;
  std::array<Severity, kEras.size()> by_era;
};
const std::vector<Rule>& rules();
Severity severity(Fault fault, const slurm::Version& version);

struct Problem {
  Fault fault = Fault::nothing;
  Severity severity = Severity::fatal;
  std::string topology;  // "" where there is but one
  int line = 0;          // of the file; 0: none in particular
  std::string text;
};

// What a slurmctld would be given. What is not known is left empty.
struct Given {
  std::vector<Shown> topologies;
  bool yaml = false;                                             // topology.yaml; else topology.conf
  bool yaml_beside = false;                                      // a topology.yaml lies beside this topology.conf
  std::vector<std::string> nodes;                                // of slurm.conf, padding too; none: not judged
  std::map<std::string, std::vector<std::string>> covered = {};  // topology → the nodes that it must have; else all
  std::map<std::string, std::string> partitions;                 // partition → its Topology=
  std::map<std::string, std::string> saved;                      // node → the Topology= that slurmctld saved
};
// What is allowed in this version is left out. In the order of the file.
std::vector<Problem> problems(const Given& given, const slurm::Version& version);

// The files of a plan, read back and judged; a plan of ours has no problem.
Result<void> check(const ClusterPlan& plan, const std::vector<Member>& members);

}  // namespace espalier::topology
