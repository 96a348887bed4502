#include "cli/reporter.h"

#include "cli/duration.h"
#include "cli/event_line.h"

namespace espalier::cli {

namespace {

class SilentReporter final : public Reporter {
 public:
  void show(const Progress&, Millis, const std::vector<wire::Event>&) override {}
};

class LiveReporter final : public Reporter {
 public:
  explicit LiveReporter(Context& context) : block_(context.out, context.terminal.height), terminal_(context.terminal) {}

  void show(const Progress& progress, Millis elapsed, const std::vector<wire::Event>& events) override {
    // In one colour, because a coloured text cannot be cut to the width.
    if (!events.empty()) last_event_ = event_line(events.back(), {});
    block_.show(draw(progress, elapsed, last_event_, terminal_));
  }

 private:
  LiveBlock block_;
  Terminal terminal_;
  std::string last_event_;
};

class LineReporter final : public Reporter {
 public:
  explicit LineReporter(Context& context) : context_(context) {}

  void show(const Progress& progress, Millis elapsed, const std::vector<wire::Event>& events) override {
    for (const auto& event : events)
      if (level_rank(event.EventLevel) > 0) print(context_, event_line(event, context_.terminal));
    for (const auto& change : changes(last_, progress))
      print(context_, fmt::format("{}  +{}  {}", show_date(context_.clock.now()), show_duration(elapsed), change));
    last_ = progress;
  }

 private:
  Context& context_;
  Progress last_;
};

}  // namespace

std::unique_ptr<Reporter> make_reporter(Context& context) {
  if (context.json) return std::make_unique<SilentReporter>();
  if (context.terminal.live) return std::make_unique<LiveReporter>(context);
  return std::make_unique<LineReporter>(context);
}

}  // namespace espalier::cli
