#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/wire.h"

namespace espalier::cli {

Result<void> list_clusters(Context& context) {
  const auto answer = context.service.list_clusters();
  return show_answer<wire::ClusterList>(context, answer, [&context](const wire::ClusterList& list) {
    Table table({"CLUSTER", "STATUS", "CREATED", "ARN"});
    for (const auto& cluster : list.ClusterSummaries)
      table.add({cluster.ClusterName, state_cell(cluster.ClusterStatus), show_date(from_epoch(cluster.CreationTime)),
                 cluster.ClusterArn});
    if (!list.ClusterSummaries.empty())
      print(context, table);
    else
      print(context, fmt::format("No cluster in {}. `espalier up` makes an example.", context.service.region()));
  });
}

}  // namespace espalier::cli
