#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/wire.h"

namespace espalier::cli {

Result<void> list_clusters(Context& context) {
  const auto answer = context.service.list_clusters();
  const auto list = read_answer<wire::ClusterList>(answer);
  if (!list) return tl::unexpected(list.error());
  if (context.json) {
    print_json(context, *answer);
    return {};
  }
  Table table({"CLUSTER", "STATUS", "CREATED", "ARN"});
  for (const auto& cluster : list->ClusterSummaries)
    table.add({cluster.ClusterName, state_cell(cluster.ClusterStatus), show_date(from_epoch(cluster.CreationTime)),
               cluster.ClusterArn});
  if (!list->ClusterSummaries.empty())
    print(context, table);
  else
    print(context, fmt::format("No cluster in {}. `espalier up` makes an example.", context.service.region()));
  return {};
}

}  // namespace espalier::cli
