// ListClusterNodes, DescribeClusterNode, AttachClusterNodeNetworkInterface.
#include <algorithm>
#include <charconv>

#include "api/lookup.h"
#include "api/pages.h"
#include "api/read.h"
#include "api/show.h"

namespace espalier::api {
namespace {

class NodeFilter {
 public:
  explicit NodeFilter(const json::object& input)
      : group_(text(input, "InstanceGroupNameContains")),
        after_(time(input, "CreationTimeAfter")),
        before_(time(input, "CreationTimeBefore")) {}
  [[nodiscard]] bool takes_group(std::string_view group) const { return group.find(group_) != std::string::npos; }
  [[nodiscard]] bool takes_time(Time created) const {
    return (!after_ || created > *after_) && (!before_ || created < *before_);
  }

 private:
  const std::string group_;
  const std::optional<Time> after_, before_;
};

using reconcile::Index;

// Where a page ended. Nodes have no name on the wire: NAME is that of their place, "<group>-<n>" with n as a number.
std::string text_of(const Slot& slot) {
  return fmt::format("{} {} {}", reconcile::creation_time(slot).time_since_epoch().count(), slot.group, slot.number);
}

// Of a text of ours, which must outlive it.
Index::Place read_place(std::string_view text) {
  const auto next = [&] {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    return word;
  };
  const auto number = [&](auto out) {
    const auto word = next();
    std::from_chars(word.data(), word.data() + word.size(), out);
    return out;
  };
  Index::Place place;
  place.created = Time(Millis(number(std::int64_t())));
  place.group = next();
  place.number = number(0);
  return place;
}

// Visits what comes after `last` (null: all), or from it on, until a visit says no.
template <typename Map, typename Visit>
bool visit_after(const Map& map, const typename Map::key_type* last, bool with_it, bool descending,
                 const Visit& visit) {
  const auto end = descending ? map.begin() : map.end();
  auto at = descending ? map.end() : map.begin();
  // Going up, upper_bound leaves it out; going down, the step back from there takes it in.
  if (last) at = with_it == descending ? map.upper_bound(*last) : map.lower_bound(*last);
  while (at != end) {
    if (descending) --at;
    if (!visit(*at)) return false;
    if (!descending) ++at;
  }
  return true;
}

// Without IncludeNodeLogicalIds only nodes with an instance id are listed. A cluster may have 65,000: a page costs what
// it shows, and a look at the key of each node that the filter passes over on the way.
Result<Page<const Slot*>> node_page(const engine::View& view, const json::object& input, const std::string& scope) {
  const bool descending = text(input, "SortOrder") == "Descending";
  std::string ended;
  if (const auto token = text(input, "NextToken"); !token.empty()) {
    auto read = read_token(scope, token);
    if (!read) return tl::unexpected(read.error());
    ended = std::move(*read);
  }
  const Index::Place place = read_place(ended);
  const auto* last = ended.empty() ? nullptr : &place;
  const auto most = static_cast<std::size_t>(number(input, "MaxResults", kPageDefault));
  Page<const Slot*> page;
  const NodeFilter filter(input);
  const bool all = flag(input, "IncludeNodeLogicalIds");
  const auto take = [&](const SlotId& id) {
    const Slot& slot = view.state.slots.at(id);
    if (slot.state != SlotState::Gone && filter.takes_time(reconcile::creation_time(slot))) page.items.push_back(&slot);
    return page.items.size() <= most;
  };
  if (text(input, "SortBy") == "NAME") {
    const std::string group(place.group);
    visit_after(view.index.by_name(), last ? &group : nullptr, true, descending, [&](const auto& item) {
      if (!filter.takes_group(item.first)) return true;
      const auto& nodes = all ? item.second.by_number : item.second.launched;
      return visit_after(nodes, last && item.first == group ? &place.number : nullptr, false, descending,
                         [&](const auto& node) { return take(node.second); });
    });
  } else {
    const auto& nodes = all ? view.index.by_creation() : view.index.launched();
    visit_after(nodes, last, false, descending, [&](const auto& node) {
      return !filter.takes_group(node.first.group) || !filter.takes_time(node.first.created) || take(node.second);
    });
  }
  if (page.items.size() > most) {
    page.items.pop_back();
    page.next = make_token(scope, text_of(*page.items.back()));
  }
  return page;
}

Result<json::object> list_cluster_nodes(const Services& services, const Call& call) {
  const auto& input = call.input;
  const auto newest = newest_image(services);
  return read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    auto page = node_page(view, input, page_scope("ListClusterNodes", call.caller.region, input));
    if (!page) return tl::unexpected(page.error());
    json::array nodes;
    for (const auto* slot : page->items)
      nodes.push_back(node_summary(view.state, *slot, newest, flag(input, "IncludeNodeLogicalIds")));
    json::object out{{"ClusterNodeSummaries", std::move(nodes)}};
    if (!page->next.empty()) out["NextToken"] = page->next;
    return out;
  });
}

Result<json::object> describe_cluster_node(const Services& services, const Call& call) {
  if (auto one = exactly_one_of(call.input, {"NodeId", "NodeLogicalId"}); !one) return tl::unexpected(one.error());
  const auto newest = newest_image(services);
  return read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    const auto slot = find_node(view, call.input);
    if (!slot) return tl::unexpected(slot.error());
    return json::object{{"NodeDetails", node_details(view.state, **slot, newest)}};
  });
}

// No provider of ours has interfaces that could be attached to a running machine.
Result<json::object> attach_network_interface(const Services& services, const Call& call) {
  return read_cluster(services, call, [&](const engine::View& view) -> Result<json::object> {
    if (const auto slot = find_node(view, call.input); !slot) return tl::unexpected(slot.error());
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
