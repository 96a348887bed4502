// What slurmctld shows of a slot's node, and what follows: may it be used, has it been let go?
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconcile/work.h"
#include "slurm/node_state.h"

namespace espalier::reconcile {

inline constexpr const char* kNoAddress = "0.0.0.0";
inline constexpr const char* kWaiting = "espalier:waiting";
inline constexpr const char* kDraining = "espalier:scale-down";
inline constexpr const char* kReplacing = "espalier:replace";

void on_nodes_seen(Work& work, const std::vector<agent::NodeView>& nodes);
// The same when these are all that slurmctld has.
void on_all_nodes_seen(Work& work, const std::vector<agent::NodeView>& nodes);

// The slot's node may be used: its machine has registered, is placed, and slurmctld shows it up.
// Controllers: slurmctld answers and was read back. Login machines: set up.
bool admitted(Work& work, Slot& slot);
// slurmctld has the slot where its machine's position belongs. A slurmd takes the topology from slurmctld when it
// starts (jobs see it in SLURM_TOPOLOGY_ADDR), so it is started only then.
bool placed(Work& work, const Slot& slot);
// Its slurmd has registered, in its place: it can be checked before jobs may come.
bool may_be_checked(const Work& work, const Slot& slot);
// No job is on it and none can come. What cannot be read is busy.
bool drained(Work& work, const Slot& slot);
// It has jobs, as far as is known: what cannot be read is busy.
bool is_busy(const Work& work, const Slot& slot);
// slurmctld has let the machine's address go, or knows nothing of it: the provider may free it.
bool released(Work& work, const Slot& slot);

// Why a node is down or drained, when an admin wrote it; "" otherwise.
std::string foreign_reason(const Work& work, const std::string& node);

// A Ready slot that slurmctld has forgotten: it restarted from a state older than the node's admission.
bool forgotten(const Work& work, const Slot& slot);
// Asks the slurmd of a slot that should have registered to do so.
void call_again(Work& work, const Slot& slot);

// Nodes that wait for an order of ours, by what it is.
struct Orders {
  std::vector<std::string> look;  // before anything is said: they leave or seem forgotten, and the last look is older
  std::vector<std::string> release;
  std::vector<std::string> drain, replace;  // of slots that go, and of those that stay
  std::vector<std::string> admit;
  std::vector<std::string> check, give_back;    // of deep health checks: to be drained, to be used again,
  std::map<std::string, std::string> keep_out;  // and to be kept out, with this reason
};
// Of the slots that something has happened to since, or that still wait.
Orders orders_due(Work& work);
// Nodes whose next change somebody waits for: looked at closely.
std::vector<std::string> to_watch(Work& work);

}  // namespace espalier::reconcile
