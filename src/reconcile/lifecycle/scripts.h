// A group's lifecycle script on its machines: fetched before the first setup that needs it, tried again on the same
// machine when it fails, and only then a failed boot, which the group's breaker counts.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

// Adds the script to the setup of the slot's machine. False: its files are not here yet, the setup has to wait.
bool add_lifecycle(Work& work, const Slot& slot, agent::Setup& setup);
void on_scripts_fetched(Work& work, const ScriptsFetched& fetched);

// The slot's setup has failed with this error. True: it was the script, and it is tried again here.
bool retry_script(Work& work, Slot& slot, const std::string& error);
// The setup of a machine may be sent now.
bool setup_is_due(Work& work, const Slot& slot);
void note_script_done(Work& work, const Slot& slot);

// While the group is slowed down its scripts are read now and then; when they have changed, its canary goes at once.
void watch_scripts(Work& work, const Group& group);

// How much longer a machine of the group may be Configuring because of its script.
Millis script_time(const Settings& settings, const Group& group);

}  // namespace espalier::reconcile
