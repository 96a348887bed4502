// One slot: from a wish to a Ready node, and away again.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

// ---- what is learned about it
void on_launch_done(Work& work, const LaunchDone& done);
void on_terminate_done(Work& work, const TerminateDone& done);
void on_machine_lost(Work& work, const MachineId& machine, const std::string& why);
void on_listed(Work& work, const MachinesListed& listed);
void on_granted(Work& work, const Granted& granted);

// How long it may stay in its state. None: for ever; a reboot is not made before slurmctld has let the node go.
std::optional<Millis> time_limit(const Slot& slot, const Group& group, const Settings& settings);

// ---- what follows from its state and the time. True when it moved, so that what depends on it is looked at again.
bool advance(Work& work, Slot& slot);

// Whether jobs could already run on its machine.
bool was_in_use(const Slot& slot);

// To the pool that it was last launched from: a launch whose outcome is not known may still give a machine, and is
// asked again with the same words.
bool is_bound(const Slot& slot);

// Puts it on its way out because of `why`: its machine must go, another one comes if the slot is still wanted.
void lose(Work& work, Slot& slot, FailureClass kind, const std::string& why);

}  // namespace espalier::reconcile
