// The cluster as a whole: how it begins, when it is in service, how it ends.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

Result<void> on_user_change(Work& work, const ClusterChange& change);
Result<void> on_user_delete(Work& work);
void on_volumes_removed(Work& work, const Result<void>& result);
// Its status, and the end of a deletion.
void settle_cluster(Work& work);
// Its failure message, from those of its groups.
void explain_cluster(Work& work);

}  // namespace espalier::reconcile
