// ListClusterNodes, DescribeClusterNode, AttachClusterNodeNetworkInterface.
#include <algorithm>

#include "api/lookup.h"
#include "api/pages.h"
#include "api/read.h"
#include "api/show.h"

namespace espalier::api {
namespace {

// Without IncludeNodeLogicalIds only nodes with an instance id are listed.
bool is_listed(const Slot& slot, const json::object& input) {
  if (slot.state == SlotState::Gone || (!slot.machine && !flag(input, "IncludeNodeLogicalIds"))) return false;
  const auto after = time(input, "CreationTimeAfter");
  const auto before = time(input, "CreationTimeBefore");
  const Time created = creation_time(slot);
  return slot.group.find(text(input, "InstanceGroupNameContains")) != std::string::npos &&
         (!after || created > *after) && (!before || created < *before);
}

// Nodes have no name on the wire: NAME is that of their place, "<group>-<n>" with n as a number.
std::string sort_key(const Slot& slot, bool by_name) {
  const auto place = slot.group + " " + sortable(std::int64_t{slot.number}) + " " + slot.id.value;
  return by_name ? place : sortable(creation_time(slot)) + " " + place;
}

Result<json::object> list_cluster_nodes(const Services& services, const Call& call) {
  const auto& input = call.input;
  return read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    std::vector<Keyed<const Slot*>> all;
    for (const auto& [id, slot] : view.state.slots)
      if (is_listed(slot, input)) all.emplace_back(sort_key(slot, text(input, "SortBy") == "NAME"), &slot);
    auto page = cut_page(std::move(all), page_scope("ListClusterNodes", call.caller.region, input),
                         text(input, "NextToken"), text(input, "SortOrder") == "Descending",
                         static_cast<std::size_t>(number(input, "MaxResults", kPageDefault)));
    if (!page) return tl::unexpected(page.error());
    json::array nodes;
    for (const auto* slot : page->items)
      nodes.push_back(node_summary(view.state, *slot, flag(input, "IncludeNodeLogicalIds")));
    json::object out{{"ClusterNodeSummaries", std::move(nodes)}};
    if (!page->next.empty()) out["NextToken"] = page->next;
    return out;
  });
}

// By NodeId or NodeLogicalId of the request.
Result<const Slot*> find_node(const ClusterState& state, const json::object& input) {
  const MachineId machine(text(input, "NodeId"));
  const SlotId logical(text(input, "NodeLogicalId"));
  const auto by_machine = [&](const auto& item) { return item.second.machine && item.second.machine->id == machine; };
  const auto found = machine.empty() ? state.slots.find(logical) : std::ranges::find_if(state.slots, by_machine);
  if (found == state.slots.end() || found->second.state == SlotState::Gone)
    return fail(ErrorCode::kNotFound, "Cluster {} has no node '{}'", state.cluster.name,
                machine.empty() ? logical.value : machine.value);
  return &found->second;
}

Result<json::object> describe_cluster_node(const Services& services, const Call& call) {
  if (!member(call.input, "NodeId") == !member(call.input, "NodeLogicalId"))
    return fail(ErrorCode::kInvalid, "Pass exactly one of NodeId and NodeLogicalId");
  return read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    const auto slot = find_node(view.state, call.input);
    if (!slot) return tl::unexpected(slot.error());
    return json::object{{"NodeDetails", node_details(view.state, **slot)}};
  });
}

// No provider of ours has interfaces that could be attached to a running machine.
Result<json::object> attach_network_interface(const Services& services, const Call& call) {
  return read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    if (const auto slot = find_node(view.state, call.input); !slot) return tl::unexpected(slot.error());
    return fail(ErrorCode::kInvalid,
                "AttachClusterNodeNetworkInterface: the provider '{}' has no network interfaces to attach; a machine "
                "has those that its type comes with",
                services.settings.provider);
  });
}

}  // namespace

std::vector<Operation> node_operations() {
  return {at_once("SageMaker.ListClusterNodes", list_cluster_nodes),
          at_once("SageMaker.DescribeClusterNode", describe_cluster_node),
          at_once("SageMaker.AttachClusterNodeNetworkInterface", attach_network_interface)};
}

}  // namespace espalier::api
