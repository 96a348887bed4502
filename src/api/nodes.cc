// ListClusterNodes, DescribeClusterNode, AttachClusterNodeNetworkInterface.
#include <algorithm>
#include <charconv>

#include "api/lookup.h"
#include "api/pages.h"
#include "api/read.h"
#include "api/show.h"

namespace espalier::api {
namespace {

// Without IncludeNodeLogicalIds only nodes with an instance id are listed.
class NodeFilter {
 public:
  explicit NodeFilter(const json::object& input)
      : all_(flag(input, "IncludeNodeLogicalIds")),
        group_(text(input, "InstanceGroupNameContains")),
        after_(time(input, "CreationTimeAfter")),
        before_(time(input, "CreationTimeBefore")) {}
  bool takes(const Slot& slot) const {
    if (slot.state == SlotState::Gone || (!slot.machine && !all_)) return false;
    const Time created = creation_time(slot);
    return slot.group.find(group_) != std::string::npos && (!after_ || created > *after_) &&
           (!before_ || created < *before_);
  }

 private:
  const bool all_;
  const std::string group_;
  const std::optional<Time> after_, before_;
};

// Where a node stands in a list. Nodes have no name on the wire: NAME is that of their place, "<group>-<n>" with n as a
// number. By NAME, `created` is the same for all.
struct Place {
  std::int64_t created = 0;
  std::string_view group;
  int number = 0;
  std::string_view id;
  auto operator<=>(const Place&) const = default;
};
constexpr Time kNoTime{};

Place place_of(const Slot& slot, bool by_name) {
  const Time created = by_name ? kNoTime : creation_time(slot);
  return {created.time_since_epoch().count(), slot.group, slot.number, slot.id.value};
}

std::string text_of(const Place& place) {
  return fmt::format("{} {} {} {}", place.created, place.group, place.number, place.id);
}

// Of a text of ours, which must outlive it.
Place read_place(std::string_view text) {
  Place place;
  const auto next = [&] {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    return word;
  };
  const auto number = [](std::string_view word, auto& out) {
    std::from_chars(word.data(), word.data() + word.size(), out);
  };
  number(next(), place.created);
  place.group = next();
  number(next(), place.number);
  place.id = next();
  return place;
}

// A cluster may have 100,000 nodes: one pass over them, and no more is sorted than is shown.
Result<Page<const Slot*>> node_page(const ClusterState& state, const json::object& input, const std::string& scope) {
  const bool by_name = text(input, "SortBy") == "NAME";
  const bool descending = text(input, "SortOrder") == "Descending";
  const auto before = [&](const Place& a, const Place& b) { return descending ? b < a : a < b; };
  std::string last;
  if (const auto token = text(input, "NextToken"); !token.empty()) {
    auto read = read_token(scope, token);
    if (!read) return tl::unexpected(read.error());
    last = std::move(*read);
  }
  const auto shown_until = last.empty() ? std::nullopt : std::optional(read_place(last));
  Page<const Slot*> page;
  const NodeFilter filter(input);
  for (const auto& [id, slot] : state.slots)
    if (filter.takes(slot) && (!shown_until || before(*shown_until, place_of(slot, by_name))))
      page.items.push_back(&slot);
  const auto most = static_cast<std::size_t>(number(input, "MaxResults", kPageDefault));
  if (cut(page.items, most,
          [&](const Slot* a, const Slot* b) { return before(place_of(*a, by_name), place_of(*b, by_name)); }))
    page.next = make_token(scope, text_of(place_of(*page.items.back(), by_name)));
  return page;
}

Result<json::object> list_cluster_nodes(const Services& services, const Call& call) {
  const auto& input = call.input;
  return read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    auto page = node_page(view.state, input, page_scope("ListClusterNodes", call.caller.region, input));
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
