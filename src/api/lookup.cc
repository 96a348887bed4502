#include "api/lookup.h"

#include "api/read.h"

namespace espalier::api {

Result<ClusterId> find_cluster(const Services& services, const Call& call) {
  return services.clusters.find(call.caller.account, call.caller.region, text(call.input, "ClusterName"));
}

Result<json::object> read_cluster(const Services& services, const Call& call,
                                  const std::function<Result<json::object>(const engine::View&)>& make) {
  const auto id = find_cluster(services, call);
  if (!id) return tl::unexpected(id.error());
  Result<json::object> made;
  const auto read = services.clusters.read(*id, [&](const engine::View& view) { made = make(view); });
  if (!read) return tl::unexpected(read.error());
  return made;
}

Result<Cluster> cluster_row(const Services& services, const ClusterId& id) {
  Cluster row;
  const auto read = services.clusters.read(id, [&](const engine::View& view) { row = view.state.cluster; });
  if (!read) return tl::unexpected(read.error());
  return row;
}

std::string newest_image(const Services& services) {
  return services.settings.newest_image ? services.settings.newest_image() : "";
}

}  // namespace espalier::api
