// The text of every file that Espalier owns on a controller. Pure; byte for byte the same for the same input.
//
// slurm.conf is written once and then the user's; it includes the three espalier-*.conf, which are ours alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/instance_type.h"

namespace espalier::slurm {

inline constexpr const char* kSlurmConf = "slurm.conf";
inline constexpr const char* kCgroupConf = "cgroup.conf";
inline constexpr const char* kGresConf = "gres.conf";
inline constexpr const char* kNodesConf = "espalier-nodes.conf";
inline constexpr const char* kPartitionsConf = "espalier-partitions.conf";
inline constexpr const char* kTopologyPluginConf = "espalier-topology.conf";  // TopologyPlugin= and TopologyParam=
inline constexpr const char* kTopologyConf = "topology.conf";
inline constexpr const char* kTopologyYaml = "topology.yaml";  // from 25.05; wins over topology.conf where both are

struct NodeLine {
  std::string group;
  std::string instance_type;
  std::vector<std::string> nodes;  // names; none → no line
};

struct ClusterFiles {
  std::string cluster_name;  // as Slurm's ClusterName: see cluster_name_for_slurm
  std::string controller_name;
  std::string controller_address;
  std::vector<NodeLine> nodes;
  std::map<std::string, std::vector<std::string>> partitions;  // name → node names; "dev" is added here with all nodes
  std::string topology_plugin;                     // topology::plugin(): "topology/tree", "topology/default"
  std::string topology_file;                       // text of topology.conf; "" → no such file
  std::string topology_yaml = {};                  // the same of topology.yaml
  std::optional<std::string> topology_param = {};  // TopologyParam=; absent: what 24.11 has for the plugin
  std::map<std::string, std::string> partition_topology = {};  // partition → Topology=, where it is not the default
  std::vector<std::string> padding = {};                       // names that fill short blocks: no machine ever has them
};

// The ClusterName that Slurm makes of a cluster's name: lower case. 24.11 takes all 63 characters that a name may have.
std::string cluster_name_for_slurm(std::string_view name);

// All files by name. A file that must not exist is absent.
std::map<std::string, std::string> render(const ClusterFiles& files);
// The same for the partitions alone: partition → host list, "dev" included.
std::map<std::string, std::string> partition_nodes(const ClusterFiles& files);
// Only espalier-partitions.conf, from such a map; `topology` as ClusterFiles::partition_topology.
std::string render_partitions(const std::map<std::string, std::string>& partition_nodes,
                              const std::map<std::string, std::string>& topology = {});

}  // namespace espalier::slurm
