#include "cli/waiting.h"

#include "cli/duration.h"

namespace espalier::cli {

Result<void> finish(Context& context, const json::object& answer, const std::string& said, const std::string& cluster,
                    Goal goal, const WaitOptions& wait) {
  const Time start = context.clock.now();
  if (!context.json) print(context, said);
  if (wait.wait.value_or(context.terminal.live && !context.json))
    if (auto ok = follow(context, cluster, {goal, wait.timeout}); !ok) return ok;
  if (context.json) {
    print_json(context, answer);
  } else if (wait.wait.value_or(context.terminal.live)) {
    print(context, fmt::format("Cluster '{}' is {} after {}.", cluster, goal == Goal::kGone ? "gone" : "complete",
                               show_duration(context.clock.now() - start)));
  }
  return {};
}

}  // namespace espalier::cli
