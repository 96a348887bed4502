#include <iostream>

#include "cli/actions.h"
#include "cli/event_line.h"
#include "cli/patience.h"
#include "cli/requests.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

constexpr int kLongPollSeconds = 20;
constexpr Millis kCallSlack{15'000};

bool matches(const EventOptions& options, const wire::Event& event) {
  return (options.group.empty() || event.InstanceGroupName == options.group) &&
         level_rank(event.EventLevel) >= level_rank(options.level);
}

class EventReader {
 public:
  EventReader(Context& context, const EventOptions& options)
      : context_(context), options_(options), patience_(context) {}

  // Reads until there are no more, or for ever with --follow (until the cluster is gone, or does not answer for long).
  Result<void> run() {
    for (;;) {
      auto done = read();
      if (done && *done) return {};
      // Who never answered is not starting anew.
      if (!done && !(options_.follow && answered_ && patience_.outlasts(done.error())))
        return tl::unexpected(done.error());
    }
  }

 private:
  // True: there is no more to come.
  Result<bool> read() {
    const int wait = caught_up_ ? kLongPollSeconds : 0;
    const auto answer = context_.service.on_cluster("Espalier.WatchEvents", options_.cluster,
                                                    {{"AfterSequence", sequence_}, {"WaitSeconds", wait}},
                                                    std::chrono::seconds(wait) + kCallSlack);
    const auto list = read_answer<wire::EventList>(answer);
    if (!list && caught_up_ && list.error().code == ErrorCode::kNotFound) return true;
    if (!list) return tl::unexpected(list.error());
    answered_ = true;
    patience_.heard();
    if (auto ok = show(*answer); !ok) return tl::unexpected(ok.error());
    sequence_ = std::max(sequence_, list->LastSequence);
    if (!caught_up_ && list->Events.empty()) {
      if (auto ok = check_group(); !ok) return tl::unexpected(ok.error());
      caught_up_ = true;
    }
    return caught_up_ && !options_.follow;
  }

  // One event a line, as JSON or for people.
  Result<void> show(const json::object& answer) {
    const auto* events = answer.if_contains("Events");
    if (events == nullptr || !events->is_array()) return {};
    for (const auto& item : events->get_array()) {
      const auto event = from_json<wire::Event>(item);
      if (!event) return fail(ErrorCode::kInternal, "An event was not understood: {}", event.error().message);
      group_seen_ = group_seen_ || event->InstanceGroupName == options_.group;
      if (!matches(options_, *event)) continue;
      context_.out << (context_.json ? json::serialize(item) : event_line(*event, context_.terminal)) << std::endl;
    }
    return {};
  }

  // A group of which nothing was said must be there; one that is gone has left its events.
  Result<void> check_group() {
    if (options_.group.empty() || group_seen_) return {};
    const auto cluster = context_.service.on_cluster("SageMaker.DescribeCluster", options_.cluster);
    if (!cluster) return tl::unexpected(cluster.error());
    if (const auto group = find_group(*cluster, options_.group); !group) return tl::unexpected(group.error());
    return {};
  }

  Context& context_;
  const EventOptions& options_;
  Patience patience_;
  std::int64_t sequence_ = 0;
  bool answered_ = false;
  bool caught_up_ = false;
  bool group_seen_ = false;
};

}  // namespace

Result<void> show_events(Context& context, const EventOptions& options) { return EventReader(context, options).run(); }

}  // namespace espalier::cli
