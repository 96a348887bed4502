#include "reconcile/status.h"

namespace espalier::reconcile {

InstanceStatus instance_status(const Slot& slot) {
  if (!slot.wanted) return InstanceStatus::ShuttingDown;
  switch (slot.state) {
    case SlotState::Wanted:
    case SlotState::Launching:
    case SlotState::Booting:
    case SlotState::Configuring:
    case SlotState::Joining:
      return InstanceStatus::Pending;
    case SlotState::Ready:
      return InstanceStatus::Running;
    case SlotState::Checking:
      return InstanceStatus::DeepHealthCheckInProgress;
    case SlotState::Draining:  // its machine is being replaced
    case SlotState::Terminating:
      return InstanceStatus::Pending;
    case SlotState::Backoff:
      return InstanceStatus::Failure;
    case SlotState::Gone:
      return InstanceStatus::NotFound;
  }
  return InstanceStatus::NotFound;
}

}  // namespace espalier::reconcile
