// UpdateClusterSoftware.
#include "api/lookup.h"
#include "api/read.h"

namespace espalier::api {
namespace {

std::optional<reconcile::BatchSize> batch_size(const json::object& policy, std::string_view name) {
  const auto* size = member(policy, name);
  if (!size) return std::nullopt;
  return reconcile::BatchSize{static_cast<int>(number(size->get_object(), "Value")),
                              text(size->get_object(), "Type") == "CAPACITY_PERCENTAGE"};
}

reconcile::UpdateSoftware update_of(const json::object& input) {
  reconcile::UpdateSoftware request;
  request.image = text(input, "ImageId");
  if (const auto* groups = member(input, "InstanceGroups"))
    for (const auto& group : groups->get_array())
      request.groups.push_back(text(group.get_object(), "InstanceGroupName"));
  const auto* deployment = member(input, "DeploymentConfig");
  if (!deployment) return request;
  request.wait = std::chrono::seconds(number(deployment->get_object(), "WaitIntervalInSeconds"));
  if (const auto* policy = member(deployment->get_object(), "RollingUpdatePolicy")) {
    request.batch = batch_size(policy->get_object(), "MaximumBatchSize");
    request.rollback_batch = batch_size(policy->get_object(), "RollbackMaximumBatchSize");
  }
  return request;
}

void update_cluster_software(const Services& services, const Call& call, const Done& done) {
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  const auto row = cluster_row(services, *id);
  if (!row) return done(tl::unexpected(row.error()));
  services.clusters.update_software(*id, update_of(call.input), answer_when_done({{"ClusterArn", arn_of(*row)}}, done));
}

}  // namespace

std::vector<Operation> software_operations() { return {{"SageMaker.UpdateClusterSoftware", update_cluster_software}}; }

}  // namespace espalier::api
