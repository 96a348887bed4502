// All-or-nothing provisioning (NodeProvisioningMode absent): one creation or update at a time, and when not everything
// is there in time, all of it goes back. A failed creation leaves a Failed cluster without machines.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

// Before a change of the groups: remembers what to go back to. kConflict while another change is under way.
Result<void> begin_whole(Work& work);
// Is all of it there, is the time over, has all gone back?
void settle_whole(Work& work);

}  // namespace espalier::reconcile
