#include "model/cluster.h"

#include <fmt/format.h>

namespace espalier {

std::vector<std::string> types_of(const Group& group) {
  return group.instance_types.empty() ? std::vector{group.instance_type} : group.instance_types;
}

std::string arn_of(const Cluster& cluster) {
  return fmt::format("arn:aws:sagemaker:{}:{}:cluster/{}", cluster.region, cluster.account, cluster.id.value);
}

}  // namespace espalier
