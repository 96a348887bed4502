// StartClusterHealthCheck.
#include "api/lookup.h"
#include "api/read.h"

namespace espalier::api {
namespace {

constexpr std::size_t kMostInstanceIds = 500;  // of a group, as documented; the shape says more

Result<reconcile::CheckHealth> check_of(const json::object& input) {
  reconcile::CheckHealth request;
  for (const auto& item : input.at("DeepHealthCheckConfigurations").get_array()) {
    const auto& wanted = item.get_object();
    auto& group = request.groups.emplace_back();
    group.group = text(wanted, "InstanceGroupName");
    for (const auto& kind : wanted.at("DeepHealthChecks").get_array())
      if (const auto known = enum_value<CheckKind>(std::string_view(kind.get_string()))) group.kinds.push_back(*known);
    const auto* ids = member(wanted, "InstanceIds");
    if (!ids) continue;
    if (ids->get_array().size() > kMostInstanceIds)
      return fail(ErrorCode::kInvalid, "InstanceGroup '{}': {} InstanceIds are more than the {} of one request",
                  group.group, ids->get_array().size(), kMostInstanceIds);
    for (const auto& id : ids->get_array()) group.machines.emplace_back(std::string(std::string_view(id.get_string())));
  }
  return request;
}

void start_cluster_health_check(const Services& services, const Call& call, const Done& done) {
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  const auto row = cluster_row(services, *id);
  if (!row) return done(tl::unexpected(row.error()));
  const auto request = check_of(call.input);
  if (!request) return done(tl::unexpected(request.error()));
  services.clusters.check_health(*id, *request, answer_when_done({{"ClusterArn", arn_of(*row)}}, done));
}

}  // namespace

std::vector<Operation> health_operations() {
  return {{"SageMaker.StartClusterHealthCheck", start_cluster_health_check}};
}

}  // namespace espalier::api
