// What machines say of themselves, and what is done about it: conditions, and repairs within budgets.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

void on_health(Work& work, const HealthSeen& seen);
void on_agent_silent(Work& work, const AgentSilent& silent);
void on_agent_back(Work& work, const AgentBack& back);

// slurmctld shows its node in another state than before.
void on_node_shown(Work& work, const Slot& slot);
// What is wrong with its machine, as far as is known; "": nothing.
std::string fault_text(const Observed& observed, const Slot& slot);

// How many of the group are under repair without anybody having asked for it.
int under_repair(Work& work, const std::string& group);
// Begins the repairs that are due. With NodeRecovery=None faults are only told.
void decide_repairs(Work& work);

}  // namespace espalier::reconcile
