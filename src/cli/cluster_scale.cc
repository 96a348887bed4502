#include "cli/waiting.h"

namespace espalier::cli {

namespace {

std::string said(const std::string& cluster, const std::vector<Resize>& sizes) {
  std::string out;
  for (const auto& size : sizes) out += fmt::format("{}{} to {}", out.empty() ? "" : ", ", size.group, size.count);
  return fmt::format("Cluster '{}' scales {}.", cluster, out);
}

}  // namespace

Result<void> scale_cluster(Context& context, const std::string& cluster, const std::vector<Resize>& sizes,
                           const WaitOptions& wait) {
  const auto now = context.service.on_cluster("SageMaker.DescribeCluster", cluster);
  if (!now) return tl::unexpected(now.error());
  auto groups = resized_groups(*now, sizes);
  if (!groups) return tl::unexpected(groups.error());
  const auto answer =
      context.service.on_cluster("SageMaker.UpdateCluster", cluster, {{"InstanceGroups", std::move(*groups)}});
  if (!answer) return tl::unexpected(answer.error());
  return finish(context, *answer, said(cluster, sizes), cluster, Goal::kGrown, wait);
}

}  // namespace espalier::cli
