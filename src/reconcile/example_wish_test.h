// The wishes that tests of several rooms begin with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reconcile/wish.h"

namespace espalier::reconcile {

// `partition`: of a compute group.
inline GroupWish example_group(const std::string& name, NodeType type, const std::string& instance_type, int count,
                               const std::string& partition = "gpu") {
  GroupWish wish;
  wish.name = name;
  wish.type = type;
  wish.has_slurm_config = true;
  wish.instance_type = instance_type;
  wish.count = count;
  if (type == NodeType::Compute) wish.partitions = {partition};
  return wish;
}

inline ClusterWish example_cluster(std::vector<GroupWish> groups, const std::string& name = "demo") {
  ClusterWish wish;
  wish.name = name;
  wish.region = "us-west-2";
  wish.account = "123456789012";
  wish.groups = std::move(groups);
  return wish;
}

}  // namespace espalier::reconcile
