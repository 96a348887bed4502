// Rebooting and replacing a machine that has one: by order of a user, of an admin in Slurm, or because it is not well.
//
// The intent is in the slot's row (Slot::repair) before anything is done. A reboot keeps machine, id and address: the
// slot leaves Slurm as for a replacement, goes back to Booting, and joins again.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

struct RepairOrder {
  RepairKind kind = RepairKind::Reboot;
  bool at_once = false;  // its jobs die; otherwise they end first
  bool own = false;      // nobody asked for it: counts against the group's budget
  std::string why;
};
// False when the slot's state allows none.
bool begin_repair(Work& work, Slot& slot, const RepairOrder& order);

// Its machine is to be rebooted, and that has not happened yet.
bool reboot_pending(const Slot& slot);
// Of a slot in Booting: asks the provider once slurmctld has let the machine go. True when the slot moved.
bool reboot(Work& work, Slot& slot);
void on_reboot_done(Work& work, const RebootDone& done);

// An admin's order in the node's reason, "Action:Replace" or "Action:Reboot", exactly: with state fail after the jobs,
// with state down at once.
void obey_slurm(Work& work, Slot& slot, const agent::NodeView& view);
bool is_order(const std::string& reason);

}  // namespace espalier::reconcile
