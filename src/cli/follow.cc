#include "cli/follow.h"

#include <algorithm>
#include <vector>

#include "cli/duration.h"
#include "cli/interrupt.h"
#include "cli/patience.h"
#include "cli/reporter.h"

namespace espalier::cli {

namespace {

constexpr Millis kLiveWait{1'000};    // redrawn at least so often: the time goes on
constexpr Millis kQuietWait{20'000};  // the API's bound is 25 s
constexpr Millis kWaitSlack{15'000};  // on top of a long poll, before the call is given up
constexpr Millis kRecent{5'000};      // events older than that before the start are history

class Follower {
 public:
  Follower(Context& context, const std::string& cluster, const FollowOptions& options)
      : context_(context),
        cluster_(cluster),
        options_(options),
        start_(context.clock.now()),
        patience_(context),
        reporter_(make_reporter(context)) {}

  Result<void> run() {
    for (;;) {
      auto done = look();
      if (done && *done) return {};
      if (!done && !patience_.outlasts(done.error())) return tl::unexpected(done.error());
      if (options_.timeout && elapsed() >= *options_.timeout) return too_late();
    }
  }

 private:
  [[nodiscard]] Millis elapsed() const { return context_.clock.now() - start_; }

  tl::unexpected<Error> too_late() const {
    return fail(ErrorCode::kTimeout,
                "Cluster '{}' is not {} after {}. It goes on by itself; `espalier events {}` says what it waits for",
                cluster_, options_.goal == Goal::kGone ? "gone" : "complete", show_duration(elapsed()), cluster_);
  }

  // Waits for events, reads the cluster, reports. True: the goal is reached.
  Result<bool> look() {
    auto events = next_events();
    if (!events) return gone_or(events.error());
    auto cluster = read_answer<wire::Cluster>(context_.service.on_cluster("SageMaker.DescribeCluster", cluster_));
    if (!cluster) return gone_or(cluster.error());
    auto nodes = read_answer<wire::NodeList>(context_.service.on_cluster("Espalier.DescribeNodes", cluster_));
    if (!nodes) return gone_or(nodes.error());
    patience_.heard();
    const Progress progress = read_progress(*cluster, nodes->Nodes, context_.clock.now());
    reporter_->show(progress, elapsed(), *events);
    return judge(progress);
  }

  Result<bool> gone_or(const Error& error) const {
    if (options_.goal == Goal::kGone && error.code == ErrorCode::kNotFound) return true;
    return tl::unexpected(error);
  }

  Result<bool> judge(const Progress& progress) const {
    if (options_.goal == Goal::kGone) return false;
    if (progress.status == "Failed" || progress.status == "Deleting")
      return fail(ErrorCode::kConflict, "Cluster '{}' is {}{}{}", cluster_, progress.status,
                  progress.failure.empty() ? "" : ": ", progress.failure);
    return is_grown(progress);
  }

  // The first call does not wait: the state may be there already. A failed one does not count as one.
  Result<std::vector<wire::Event>> next_events() {
    const Millis wait = !watched_ ? Millis(0) : bounded(context_.terminal.live ? kLiveWait : kQuietWait);
    auto answer = read_answer<wire::EventList>(
        context_.service.on_cluster("Espalier.WatchEvents", cluster_,
                                    {{"AfterSequence", sequence_}, {"WaitSeconds", seconds(wait)}}, wait + kWaitSlack));
    if (!answer) return tl::unexpected(answer.error());
    watched_ = true;
    sequence_ = std::max(sequence_, answer->LastSequence);
    std::erase_if(answer->Events, [this](const auto& event) { return from_epoch(event.EventTime) < start_ - kRecent; });
    return std::move(answer->Events);
  }

  // Not longer than the time that is left.
  [[nodiscard]] Millis bounded(Millis wait) const {
    if (!options_.timeout) return wait;
    return std::clamp(*options_.timeout - elapsed(), Millis(0), wait);
  }
  static std::int64_t seconds(Millis wait) { return std::chrono::ceil<std::chrono::seconds>(wait).count(); }

  Context& context_;
  const std::string& cluster_;
  const FollowOptions& options_;
  Time start_;
  Patience patience_;
  std::unique_ptr<Reporter> reporter_;
  std::int64_t sequence_ = 0;
  bool watched_ = false;
};

std::string leaving(const std::string& cluster, Goal goal) {
  if (goal == Goal::kGone) return fmt::format("\nCluster '{}' goes on being deleted without you.\n", cluster);
  return fmt::format(
      "\nCluster '{0}' goes on growing without you. See: espalier cluster describe {0}; "
      "espalier events {0} --follow\n",
      cluster);
}

}  // namespace

Result<void> follow(Context& context, const std::string& cluster, const FollowOptions& options) {
  const InterruptNotice notice(leaving(cluster, options.goal));
  return Follower(context, cluster, options).run();
}

}  // namespace espalier::cli
