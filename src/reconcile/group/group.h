// A group: as many slots as are wished for, and what its status is.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

int ready_count(const ClusterState& state, const Group& group);
// Adds slots (the lowest free numbers) or marks those that hurt least as not wanted any more.
void match_target(Work& work, Group& group);
// Status, scaling flag and their events; drops a group that is deleted and empty.
void settle_group(Work& work, Group& group);
// Makes or changes a group as wished.
Group make_group(const GroupWish& wish, Time now);
void change_group(Work& work, const GroupWish& wish);

}  // namespace espalier::reconcile
