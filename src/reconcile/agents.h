// What the machines' agents are told, and what they say of themselves.
#pragma once

#include "reconcile/work.h"

namespace espalier::reconcile {

void on_agent_enrols(Work& work, const AgentEnrols& call);
// The next credential of the machine; the one in hand is good until the next is used.
void on_agent_renews(Work& work, const AgentRenews& call);
void on_credential_used(Work& work, const CredentialUsed& used);
// Tells the agent to renew its credential when that has had its time.
void renew_credential(Work& work, const Slot& slot);
void on_agent_here(Work& work, const MachineId& machine);
// A setup's result; others are for slurm/batch.h.
void on_setup_done(Work& work, Slot& slot, const agent::CommandResult& result);

// Sends the machine what it should be, once it has called and as long as no such command is under way.
void send_setup(Work& work, Slot& slot);

}  // namespace espalier::reconcile
