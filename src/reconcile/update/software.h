// UpdateClusterSoftware: machines get another release of their software by being replaced, batch by batch. A busy node
// keeps its machine until its jobs have ended. A release whose machines do not become Ready is rolled back.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

// kConflict while a group is being updated already, or waits for its MinInstanceCount.
Result<UserAnswer> on_update_software(Work& work, const UpdateSoftware& request);
// The next batch, or the end.
void settle_update(Work& work, Group& group);
bool is_updating(const Group& group);

}  // namespace espalier::reconcile
