// Espalier's own operations that have no file of their own: docs/wire-own.md.
#include <unistd.h>

#include "api/lookup.h"
#include "api/own_node.h"
#include "api/read.h"
#include "api/show.h"

namespace espalier::api {
namespace {

Result<json::object> describe_service(const Services& services, const Call&) {
  const auto& settings = services.settings;
  return json::object{{"Version", settings.version},
                      {"Provider", settings.provider},
                      {"StateFolder", settings.state_folder},
                      {"Image", settings.image},
                      {"AgentEndpoint", settings.agent_endpoint},
                      {"ProcessId", std::int64_t{getpid()}}};
}

// ---- nodes --------------------------------------------------------------------------------------------------------

Result<json::object> describe_nodes(const Services& services, const Call& call) {
  return read_cluster(services, call, [](const engine::View& view) {
    const auto leaves = topology::leaves(view.wanted().plan.main());
    json::array nodes;
    for (const auto& [name, group] : view.state.groups)
      for (const auto& [number, id] : view.index.group(name).by_number)
        if (const Slot& slot = view.state.slots.at(id); slot.state != SlotState::Gone)
          nodes.push_back(own_node(view, group, slot, leaves));
    return json::object{{"Nodes", std::move(nodes)}};
  });
}

Result<json::object> describe_access(const Services& services, const Call& call) {
  if (auto one = exactly_one_of(call.input, {"NodeName", "NodeId"}); !one) return tl::unexpected(one.error());
  return read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    const auto found = find_node(view, call.input);
    if (!found) return tl::unexpected(found.error());
    const Slot& slot = **found;
    if (!slot.machine)
      return fail(ErrorCode::kConflict, "Node {} has no machine yet: it is {}", slot.node_name, enum_name(slot.state));
    const auto& folder = services.settings.machine_folder;
    return json::object{{"InstanceId", slot.machine->id.value},
                        {"NodeName", slot.node_name},
                        {"MachineFolder", folder ? folder(slot.machine->id) : ""}};
  });
}

// ---- capacity ------------------------------------------------------------------------------------------------------

Result<json::object> describe_capacity(const Services& services, const Call&) {
  if (!services.capacity)
    return fail(ErrorCode::kInvalid, "The provider '{}' has no capacity model", services.settings.provider);
  json::object pools;
  for (const auto& [type, use] : services.capacity->show()) {
    json::object pool{{"InUse", use.in_use},
                      {"LaunchTimeMillis", use.pool.launch_time.count()},
                      {"FailureRate", use.pool.failure_rate},
                      {"FailureClass", use.pool.failure_class}};
    if (use.pool.machines) pool["Machines"] = *use.pool.machines;
    pools[type] = std::move(pool);
  }
  return json::object{{"Pools", std::move(pools)}};
}

// What is absent stays; of Machines, null means no bound.
Pool changed(Pool pool, const json::object& change) {
  if (const auto* machines = change.if_contains("Machines"))
    pool.machines = machines->is_null() ? std::nullopt : std::optional(machines->to_number<int>());
  pool.launch_time = Millis(number(change, "LaunchTimeMillis", pool.launch_time.count()));
  if (const auto* rate = member(change, "FailureRate")) pool.failure_rate = rate->to_number<double>();
  pool.failure_class = text(change, "FailureClass", pool.failure_class);
  return pool;
}

// A type without a pool of its own starts from the default one.
Pool pool_of(const std::map<std::string, PoolUse>& all, const std::string& type) {
  for (const auto& name : {type, std::string("default")})
    if (const auto found = all.find(name); found != all.end()) return found->second.pool;
  return {};
}

Result<json::object> update_capacity(const Services& services, const Call& call) {
  auto shown = describe_capacity(services, call);
  if (!shown) return shown;
  const auto now = services.capacity->show();
  for (const auto& [type, change] : member(call.input, "Pools")->get_object()) {
    if (change.is_null()) continue;
    auto set = services.capacity->set(type, changed(pool_of(now, type), change.get_object()));
    if (!set) return tl::unexpected(set.error());
  }
  return describe_capacity(services, call);
}

}  // namespace

std::vector<Operation> own_operations() {
  return {at_once("Espalier.DescribeService", describe_service), at_once("Espalier.DescribeNodes", describe_nodes),
          at_once("Espalier.DescribeAccess", describe_access), at_once("Espalier.DescribeCapacity", describe_capacity),
          at_once("Espalier.UpdateCapacity", update_capacity)};
}

}  // namespace espalier::api
