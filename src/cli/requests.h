// Bodies of the HyperPod requests that the commands send. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/group_option.h"

namespace espalier::cli {

// The groups that every cluster needs and nobody wants to write.
struct BaseGroups {
  std::string controller_type = "ml.c5.xlarge";
  std::string login_type = "ml.c5.xlarge";
  bool login = true;
};

// Puts controller and login groups in front of `groups`, except kinds that are already there.
std::vector<GroupOption> with_base_groups(std::vector<GroupOption> groups, const BaseGroups& base);
// The member that names a node: by its name, "i-…", or the UUID of its slot.
const char* member_for(const std::string& node);
// ClusterInstanceGroupSpecification.
json::object group_spec(const GroupOption& group);
// CreateCluster, continuous and with Slurm.
json::object create_request(const std::string& cluster, const std::vector<GroupOption>& groups);
// What `espalier up` creates: 8 × ml.p5.48xlarge in partition gpu, 2 × ml.c5.4xlarge in partition cpu.
json::object example_request(const std::string& cluster);

// ClusterInstanceGroupDetails from DescribeCluster's answer. kNotFound: no such group, with the one that may have been
// meant, or those that there are.
Result<json::object> find_group(const json::object& cluster, const std::string& name);
// UpdateCluster wants a group's whole specification. Made from what DescribeCluster says of the group
// (ClusterInstanceGroupDetails), with another count; a minimum above the count is lowered to it.
json::object resized_spec(const json::object& details, int count);
// UpdateCluster's InstanceGroups from DescribeCluster's answer. kNotFound as find_group.
Result<json::array> resized_groups(const json::object& cluster, const std::vector<Resize>& sizes);

}  // namespace espalier::cli
