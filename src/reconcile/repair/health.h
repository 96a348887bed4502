// What machines say of themselves, and what is done about it: conditions, and repairs within budgets.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

void on_health(Work& work, const HealthSeen& seen);
void on_agent_silent(Work& work, const AgentSilent& silent);
void on_agent_back(Work& work, const AgentBack& back);

// Begins the repairs that are due. With NodeRecovery=None faults are only told.
void decide_repairs(Work& work);

}  // namespace espalier::reconcile
