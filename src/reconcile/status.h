// What users see of a slot's life.
#pragma once

#include "model/cluster.h"

namespace espalier::reconcile {

InstanceStatus instance_status(const Slot& slot);

}  // namespace espalier::reconcile
