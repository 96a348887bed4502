// ListClusterEvents, DescribeClusterEvent, and Espalier.WatchEvents, which waits for the next ones.
#include <charconv>

#include "api/lookup.h"
#include "api/pages.h"
#include "api/read.h"
#include "api/show.h"

namespace espalier::api {
namespace {

constexpr int kWatchedAtOnce = 100;

store::EventQuery query_of(const ClusterId& cluster, const json::object& input) {
  store::EventQuery query;
  query.cluster = cluster;
  query.group = text(input, "InstanceGroupName");
  query.instance = MachineId(text(input, "NodeId"));
  query.resource = enum_value<ResourceType>(text(input, "ResourceType"));
  query.after = time(input, "EventTimeAfter");
  query.before = time(input, "EventTimeBefore");
  query.ascending = text(input, "SortOrder") == "Ascending";
  return query;
}

// Pages continue after (or, newest first, before) the sequence of the last event shown.
Result<void> continue_at(const std::string& scope, const std::string& token, store::EventQuery& query) {
  if (token.empty()) return {};
  const auto key = read_token(scope, token);
  if (!key) return tl::unexpected(key.error());
  auto& bound = query.ascending ? query.after_sequence : query.before_sequence;
  std::from_chars(key->data(), key->data() + key->size(), bound);
  return {};
}

// The service keeps events of Continuous clusters only.
Result<Cluster> with_events(const Services& services, const ClusterId& id) {
  auto row = cluster_row(services, id);
  if (row && !row->continuous)
    return fail(ErrorCode::kInvalid, "Cluster {} has no events: they need NodeProvisioningMode=Continuous", row->name);
  return row;
}

Result<json::object> list_cluster_events(const Services& services, const Call& call) {
  const auto& input = call.input;
  const auto id = find_cluster(services, call);
  if (!id) return tl::unexpected(id.error());
  const auto row = with_events(services, *id);
  if (!row) return tl::unexpected(row.error());
  const auto scope = page_scope("ListClusterEvents", call.caller.region, input);
  const auto most = static_cast<std::size_t>(number(input, "MaxResults", kPageDefault));
  auto query = query_of(*id, input);
  query.limit = static_cast<int>(most) + 1;  // one more tells whether there is another page
  if (auto ok = continue_at(scope, text(input, "NextToken"), query); !ok) return tl::unexpected(ok.error());
  auto events = services.clusters.events(query);
  if (!events) return tl::unexpected(events.error());
  json::object out;
  if (events->size() > most) {
    events->resize(most);
    out["NextToken"] = make_token(scope, std::to_string(events->back().sequence));
  }
  json::array shown;
  for (const auto& event : *events) shown.push_back(event_summary(*row, event));
  out["Events"] = std::move(shown);
  return out;
}

Result<json::object> describe_cluster_event(const Services& services, const Call& call) {
  const auto id = find_cluster(services, call);
  if (!id) return tl::unexpected(id.error());
  const auto row = with_events(services, *id);
  if (!row) return tl::unexpected(row.error());
  const auto event_id = text(call.input, "EventId");
  const auto event = services.clusters.event(*id, event_id);
  if (!event) return tl::unexpected(event.error());
  if (!*event) return fail(ErrorCode::kNotFound, "Cluster {} has no event '{}'", row->name, event_id);
  return json::object{{"EventDetails", event_detail(*row, **event)}};
}

Result<json::object> events_after(const Services& services, const ClusterId& id, std::int64_t sequence) {
  const auto row = cluster_row(services, id);
  if (!row) return tl::unexpected(row.error());
  store::EventQuery query;
  query.cluster = id;
  query.after_sequence = sequence;
  query.ascending = true;
  query.limit = kWatchedAtOnce;
  const auto events = services.clusters.events(query);
  if (!events) return tl::unexpected(events.error());
  json::array shown;
  for (const auto& event : *events) {
    auto one = event_summary(*row, event);
    one["Sequence"] = event.sequence;
    if (!event.slot.empty()) one["NodeLogicalId"] = event.slot.value;
    if (auto failure = failure_message_of(event); !failure.empty()) one["FailureMessage"] = failure;
    shown.push_back(std::move(one));
    sequence = event.sequence;
  }
  return json::object{{"Events", std::move(shown)}, {"LastSequence", sequence}};
}

void watch_events(const Services& services, const Call& call, const Done& done) {
  const auto id = find_cluster(services, call);
  if (!id) return done(tl::unexpected(id.error()));
  const auto sequence = number(call.input, "AfterSequence");
  const Millis wait(1000 * number(call.input, "WaitSeconds"));
  auto now = events_after(services, *id, sequence);
  if (wait.count() == 0 || !now || !now->at("Events").as_array().empty()) return done(std::move(now));
  services.clusters.await_event(*id, sequence, wait,
                                [&services, id = *id, sequence, done] { done(events_after(services, id, sequence)); });
}

}  // namespace

std::vector<Operation> event_operations() {
  return {at_once("SageMaker.ListClusterEvents", list_cluster_events),
          at_once("SageMaker.DescribeClusterEvent", describe_cluster_event),
          {"Espalier.WatchEvents", watch_events}};
}

}  // namespace espalier::api
