// Deep health checks: who is checked and when, and what follows. The machines' agents carry them out.
//
// A node under check is drained first with a reason of ours, and its jobs end by themselves: one that is busy for
// too long is left alone. What could not be checked is said, and the node is given back to Slurm.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

inline constexpr const char* kChecking = "espalier:health-check";
inline constexpr std::string_view kKeptOut = "health check: ";  // before a reason that is an admin's to end

Result<void> on_user_checks(Work& work, const CheckHealth& request);
// False: the result is of another command.
bool on_check_done(Work& work, Slot& slot, const agent::CommandResult& result);

// A new machine has come: it is checked when its group wants that, or when its slot's last check did not end well.
void prepare_check(Work& work, Slot& slot);
// It is to be checked before Slurm may use it.
bool check_is_due(const Slot& slot);
// It has been checked, and an admin is to look at it before Slurm may use it.
bool is_to_be_kept_out(const Slot& slot);
// From Ready or Joining. True when it moved.
bool enter_check(Work& work, Slot& slot);
// Of a slot in Checking. True when it moved.
bool advance_check(Work& work, Slot& slot);
// Those that have answered, once all have that are judged together.
void judge_checks(Work& work);

}  // namespace espalier::reconcile
