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

Result<const Slot*> find_node(const engine::View& view, const json::object& input) {
  const std::string name = text(input, "NodeName");
  const MachineId machine(text(input, "NodeId"));
  const SlotId logical(text(input, "NodeLogicalId"));
  const SlotId* by_name = view.index.by_node(name);
  const auto by_id = view.state.slots.find(by_name ? *by_name : logical);
  const Slot* found = by_id == view.state.slots.end() ? nullptr : &by_id->second;
  if (!machine.empty()) found = view.slot_of(machine);
  if (!found || found->state == SlotState::Gone)
    return fail(ErrorCode::kNotFound, "Cluster {} has no node '{}'", view.state.cluster.name,
                name + machine.value + logical.value);
  return found;
}

std::string newest_image(const Services& services) {
  return services.settings.newest_image ? services.settings.newest_image() : "";
}

}  // namespace espalier::api
