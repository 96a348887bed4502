#include "cli/actions.h"
#include "cli/wire.h"

namespace espalier::cli {

Result<void> show_status(Context& context) {
  const auto answer = context.service.call("Espalier.DescribeService", {});
  const auto service = read_answer<wire::Service>(answer);
  if (!service) return tl::unexpected(service.error());
  if (context.json) {
    print_json(context, *answer);
    return {};
  }
  const auto names = context.service.cluster_names();
  if (!names) return tl::unexpected(names.error());
  print(context, fmt::format("Espalier {} answers at {}.", service->Version, context.service.endpoint()));
  const auto& agents = service->AgentEndpoint;
  print(context, fmt::format("Process {}, state in {}, machines from '{}'{}.", service->ProcessId, service->StateFolder,
                             service->Provider, agents.empty() ? "" : ", agents report to " + agents));
  print(context,
        fmt::format("{} cluster{} in {}.", names->size(), names->size() == 1 ? "" : "s", context.service.region()));
  return {};
}

}  // namespace espalier::cli
