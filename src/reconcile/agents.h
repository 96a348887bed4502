// What the machines' agents are told, and what they say of themselves.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

void on_agent_enrols(Work& work, const AgentEnrols& call);
void on_agent_here(Work& work, const MachineId& machine);
// A setup's result; others are for slurm/batch.h.
void on_setup_done(Work& work, Slot& slot, const agent::CommandResult& result);

// Sends the machine what it should be, once it has called and as long as no such command is under way.
void send_setup(Work& work, Slot& slot);

}  // namespace espalier::reconcile
