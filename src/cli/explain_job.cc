// `espalier explain CLUSTER JOB`.
#include "cli/actions.h"
#include "cli/wire.h"

namespace espalier::cli {

Result<void> explain_job(Context& context, const std::string& cluster, const std::string& job) {
  const auto answer = context.service.on_cluster("Espalier.ExplainJob", cluster, {{"JobId", job}});
  return show_answer<wire::JobExplanation>(context, answer, [&context](const wire::JobExplanation& why) {
    print(context, fmt::format("Job {} ({} nodes of partition {}) is {}{}", why.JobId, why.NodeCount, why.Partition,
                               why.State, why.Reason.empty() ? "" : ": " + why.Reason));
    for (const auto& line : why.Because) print(context, "because: " + line);
    for (const auto& option : why.WouldRun) print(context, fmt::format("{} would run now", option));
  });
}

// "5", "5_2", "5+1".
bool is_job(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789_+") == std::string::npos;
}

}  // namespace espalier::cli
