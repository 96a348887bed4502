#include <filesystem>

#include "cli/actions.h"
#include "cli/background_serve.h"
#include "cli/waiting.h"

namespace espalier::cli {

namespace {

// All are told first, so that they go at the same time.
Result<void> delete_all(Context& context, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    auto answer = context.service.on_cluster("SageMaker.DeleteCluster", name);
    if (!answer && answer.error().code != ErrorCode::kNotFound && answer.error().code != ErrorCode::kConflict)
      return tl::unexpected(answer.error());
  }
  for (const auto& name : names) {
    if (auto ok = follow(context, name, {Goal::kGone, {}}); !ok) return ok;
    if (!context.json) print(context, fmt::format("Cluster '{}' is gone.", name));
  }
  return {};
}

Result<void> report(Context& context, const std::vector<std::string>& names, bool stopped, const std::string& state) {
  if (context.json) {
    print_json(context, json::object{{"DeletedClusters", to_json(names)}, {"Stopped", stopped}});
  } else if (stopped) {
    print(context, "The control plane has stopped.");
  } else {
    print(context, fmt::format("The control plane at {} goes on: `espalier up` did not start it with the state folder "
                               "{}. Stop it where it was started.",
                               context.service.endpoint(), state));
  }
  return {};
}

// Machines outlive their control plane; without them there is nothing to do.
Result<void> nobody_there(Context& context, const Error& error, const std::string& state) {
  std::error_code none;
  if (std::filesystem::is_empty(state + "/machines", none) || none) {
    if (context.json) return report(context, {}, false, state);
    print(context, fmt::format("No control plane answers at {}, and there are no machines in {}.",
                               context.service.endpoint(), state));
    return {};
  }
  return fail(error.code,
              "No control plane answers at {}, and the machines in {} run on without one: `espalier up` with the same "
              "options goes on with them, `espalier down` deletes them then",
              context.service.endpoint(), state);
}

}  // namespace

Result<void> down(Context& context, const std::string& state) {
  const auto service = describe_service(context);
  if (!service && service.error().code == ErrorCode::kUnavailable) return nobody_there(context, service.error(), state);
  if (!service) return tl::unexpected(service.error());
  if (auto ok = check_state(context, *service, state); !ok) return ok;  // before anything is deleted
  const auto names = context.service.cluster_names();
  if (!names) return tl::unexpected(names.error());
  if (auto ok = delete_all(context, *names); !ok) return ok;
  const auto stopped = stop_serve(state);
  if (!stopped) return tl::unexpected(stopped.error());
  return report(context, *names, *stopped, state);
}

}  // namespace espalier::cli
