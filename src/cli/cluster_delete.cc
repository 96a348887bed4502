#include "cli/waiting.h"

namespace espalier::cli {

Result<void> delete_cluster(Context& context, const std::string& cluster, const WaitOptions& wait) {
  const auto answer = context.service.on_cluster("SageMaker.DeleteCluster", cluster);
  if (!answer) return tl::unexpected(answer.error());
  return finish(context, *answer, fmt::format("Cluster '{}' is being deleted.", cluster), cluster, Goal::kGone, wait);
}

}  // namespace espalier::cli
