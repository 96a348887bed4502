// All topologies of one cluster, as its version of Slurm can have them. Pure.
//
// From 25.05 on a cluster may have a tree, blocks and no topology side by side, and its partitions choose; older ones
// have a single topology. Names of topologies, switches and blocks are the same in all versions: an upgrade keeps what
// slurmctld saved.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "topology/blocks.h"
#include "topology/plan.h"

namespace espalier::topology {

struct Request {
  std::vector<Member> members;
  std::vector<GroupTypes> groups;  // also those of count 0; none: the types of the members count
  slurm::Version version = slurm::kOwnImage;
  Preference preference = Preference::automatic;
  int base_size = kNominalBlock;
  // Topologies that slurmctld has nodes in. From 25.05 on it saves each node's places, and does not start when one of
  // them names a topology that is gone: they stay, beside the cluster's default, also when nobody chooses them.
  std::set<Model> kept = {};
};

struct ClusterPlan {
  slurm::Version version = slurm::kOwnImage;
  Choice choice;
  std::vector<Plan> topologies = {Plan{}};  // the cluster's default first, one of each model at most
  std::map<std::string, Model> partitions;  // those whose topology is not the default
  std::vector<std::string> notes;           // what had to be bent, for people
  std::map<std::string, std::vector<std::string>> nvlink_domains;  // for nvidia-imex

  [[nodiscard]] const Plan& main() const { return topologies.front(); }
};

// `memory` is of the plan before this one, and is brought up to date.
ClusterPlan plan_cluster(const Request& request, Memory& memory);

// The texts that Slurm reads. Files that must not be there are empty: a topology.yaml would win over a topology.conf.
struct TopologyFiles {
  std::string conf;    // topology.conf
  std::string yaml;    // topology.yaml
  std::string plugin;  // TopologyPlugin=
  std::string param;   // TopologyParam=; may be empty
  bool operator==(const TopologyFiles&) const = default;
};
TopologyFiles render(const ClusterPlan& plan);
// TopologyParam= alone: how slurmctld ranks nodes by the cluster's default; "" when it does not.
std::string param(const ClusterPlan& plan);

// For people: every topology, one below the other.
std::string draw(const ClusterPlan& plan);

// Names that slurm.conf must declare with State=FUTURE: Block::padding of all blocks.
std::vector<std::string> padding(const ClusterPlan& plan);
// Node → where it is, as its Topology= would say: "tree:leaf7,block:b3". Nodes of a flat cluster are left out.
std::map<std::string, std::string> places(const ClusterPlan& plan);

// "tree:unplaced", alone or among others.
bool is_unplaced(std::string_view place);

}  // namespace espalier::topology
