#include "model/cluster.h"

#include <fmt/format.h>

namespace espalier {

std::string arn_of(const Cluster& cluster) {
  return fmt::format("arn:aws:sagemaker:{}:{}:cluster/{}", cluster.region, cluster.account, cluster.id.value);
}

}  // namespace espalier
