#include "cli/event_line.h"

#include <fmt/format.h>

#include "cli/duration.h"

namespace espalier::cli {

std::string event_line(const wire::Event& event, const Terminal& terminal) {
  const std::string& group = event.InstanceGroupName;
  return fmt::format("{}  {}  {:<12}  {}{}{}", show_date(from_epoch(event.EventTime)),
                     paint(fmt::format("{:<5}", event.EventLevel), state_colour(event.EventLevel), terminal),
                     group.empty() ? "-" : group, one_line(event.Description), event.FailureMessage.empty() ? "" : ": ",
                     one_line(event.FailureMessage));
}

int level_rank(const std::string& level) { return level == "Error" ? 2 : level == "Warn" ? 1 : 0; }

}  // namespace espalier::cli
