#include <iostream>

#include "cli/actions.h"
#include "cli/event_line.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

constexpr int kLongPollSeconds = 20;
constexpr Millis kCallSlack{15'000};

bool matches(const EventOptions& options, const wire::Event& event) {
  return (options.group.empty() || event.InstanceGroupName == options.group) &&
         level_rank(event.EventLevel) >= level_rank(options.level);
}

// One event a line, as JSON or for people.
Result<void> show(Context& context, const EventOptions& options, const json::object& answer) {
  const auto* events = answer.if_contains("Events");
  if (events == nullptr || !events->is_array()) return {};
  for (const auto& item : events->get_array()) {
    const auto event = from_json<wire::Event>(item);
    if (!event) return fail(ErrorCode::kInternal, "An event was not understood: {}", event.error().message);
    if (!matches(options, *event)) continue;
    context.out << (context.json ? json::serialize(item) : event_line(*event, context.terminal)) << std::endl;
  }
  return {};
}

}  // namespace

// Reads until there are no more, or for ever with --follow (until the cluster is gone).
Result<void> show_events(Context& context, const EventOptions& options) {
  std::int64_t sequence = 0;
  for (bool caught_up = false;;) {
    const int wait = caught_up ? kLongPollSeconds : 0;
    const auto answer = context.service.on_cluster("Espalier.WatchEvents", options.cluster,
                                                   {{"AfterSequence", sequence}, {"WaitSeconds", wait}},
                                                   std::chrono::seconds(wait) + kCallSlack);
    const auto list = read_answer<wire::EventList>(answer);
    if (!list && caught_up && list.error().code == ErrorCode::kNotFound) return {};
    if (!list) return tl::unexpected(list.error());
    if (auto ok = show(context, options, *answer); !ok) return ok;
    sequence = std::max(sequence, list->LastSequence);
    caught_up = list->Events.empty() || caught_up;
    if (caught_up && !options.follow) return {};
  }
}

}  // namespace espalier::cli
