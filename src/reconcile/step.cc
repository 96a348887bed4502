#include "reconcile/step.h"

#include <algorithm>

#include "reconcile/agents.h"
#include "reconcile/check/check.h"
#include "reconcile/cluster/cluster.h"
#include "reconcile/events.h"
#include "reconcile/group/group.h"
#include "reconcile/lifecycle/scripts.h"
#include "reconcile/nodes.h"
#include "reconcile/repair/health.h"
#include "reconcile/repair/repair.h"
#include "reconcile/slot/slot.h"
#include "reconcile/slurm/batch.h"
#include "reconcile/slurm/imex.h"
#include "reconcile/slurm/nodes.h"
#include "reconcile/slurm/wanted.h"
#include "reconcile/update/software.h"
#include "reconcile/work.h"

namespace espalier::reconcile {

namespace {

// What each kind of input means.
struct Learn {
  Work& work;

  void operator()(const UserChange& in) const { answer(on_user_change(work, in.change)); }
  void operator()(const UserDelete&) const { answer(on_user_delete(work)); }
  void operator()(const UserAddsNodes& in) const { work.out.user.push_back(on_add_nodes(work, in.request)); }
  void operator()(const UserActsOnNodes& in) const { work.out.user.push_back(on_act_on_nodes(work, in.request)); }
  void operator()(const UserUpdatesSoftware& in) const {
    work.out.user.push_back(on_update_software(work, in.request));
  }
  void operator()(const UserChecksHealth& in) const { answer(on_user_checks(work, in.request)); }
  void operator()(const MachinesListed& in) const { on_listed(work, in); }
  void operator()(const LaunchDone& in) const { on_launch_done(work, in); }
  void operator()(const TerminateDone& in) const { on_terminate_done(work, in); }
  void operator()(const MachineExited& in) const {
    if (work.observed.terminating.contains(in.machine)) return;
    if (!work.slot_of(in.machine))
      work.observed.exited.insert(in.machine);
    else
      on_machine_lost(work, in.machine, fmt::format("Instance {} has ended", in.machine.value));
  }
  void operator()(const AgentEnrols& in) const { on_agent_enrols(work, in); }
  void operator()(const AgentRenews& in) const { on_agent_renews(work, in); }
  void operator()(const CredentialUsed& in) const { on_credential_used(work, in); }
  void operator()(const AgentHere& in) const { on_agent_here(work, in.machine); }
  void operator()(const CommandDone& in) const {
    Slot* slot = work.slot_of(in.machine);
    if (!slot) return;
    const auto setup = work.observed.setup_sent.find(in.machine);
    if (setup != work.observed.setup_sent.end() && setup->second == in.result.id)
      on_setup_done(work, *slot, in.result);
    else if (!on_imex_done(work, *slot, in.result) && !on_check_done(work, *slot, in.result) &&
             is_controller(in.machine))
      on_batch_done(work, in.result);
  }
  void operator()(const NodesSeen& in) const {
    if (is_controller(in.machine)) on_nodes_seen(work, in.nodes);
  }
  void operator()(const HealthSeen& in) const { on_health(work, in); }
  void operator()(const AgentSilent& in) const { on_agent_silent(work, in); }
  void operator()(const AgentBack& in) const { on_agent_back(work, in); }
  void operator()(const RebootDone& in) const { on_reboot_done(work, in); }
  void operator()(const ScriptsFetched& in) const { on_scripts_fetched(work, in); }
  void operator()(const Granted& in) const { on_granted(work, in); }
  void operator()(const PoolSeen& in) const {
    if (in.closed)
      work.observed.closed_pools[in.pool] = *in.closed;
    else
      work.observed.closed_pools.erase(in.pool);
  }
  void operator()(const VolumesRemoved& in) const { on_volumes_removed(work, in.result); }

  // Of Slurm only the controller's agent may tell: another machine may be in anybody's hands.
  [[nodiscard]] bool is_controller(const MachineId& machine) const {
    const Slot* controller = work.controller();
    return controller && controller->machine && controller->machine->id == machine;
  }
  void answer(const Result<void>& done) const {
    work.out.user.push_back(done ? Result<UserAnswer>() : tl::unexpected(done.error()));
  }
};

void list_when_due(Work& work) {
  Observed& observed = work.observed;
  const bool due = !observed.listed || (observed.list_at && *observed.list_at <= work.now());
  if (due && !observed.listing) {
    observed.listing = true;
    observed.list_asked = work.now();
    observed.list_at.reset();
    work.effect(ListMachines{});
  } else if (observed.list_at && !observed.listing) {  // a list that hangs is waited for, not asked about
    work.wake_at(*observed.list_at);
  }
}

// Controllers first, so that what waits for them moves in the same step; the others in a stable order.
std::vector<SlotId> in_order(Work& work, std::vector<SlotId> due) {
  const auto controller = std::ranges::find_if(due, [&](const SlotId& id) { return work.observed.controller == id; });
  if (controller != due.end()) std::rotate(due.begin(), controller, controller + 1);
  return due;
}

void advance_slots(Work& work) {
  while (!work.observed.agenda.empty(work.now())) {
    for (const SlotId& id : in_order(work, work.observed.agenda.take(work.now()))) {
      Slot* slot = work.slot(id);
      if (!slot) continue;
      work.observed.to_order.insert(id);
      // Each move goes one edge down the life table, which has no cycle without an answer from outside or a delay.
      for (int moves = 0; moves < 8 && advance(work, *slot); ++moves) {
      }
      if (slot->state == SlotState::Gone) work.drop(SlotId(slot->id));
    }
  }
}

void settle(Work& work) {
  for (auto& [name, group] : work.state.groups) {
    match_target(work, group);
    watch_scripts(work, group);
  }
  advance_slots(work);
  judge_checks(work);
  // After them: nothing else may happen when the last machine of a batch has become Ready.
  for (auto& [name, group] : work.state.groups) settle_update(work, group);
  decide_repairs(work);
  advance_slots(work);
  decide_batch(work);
  advance_slots(work);  // what slurmctld was found to have right already
  update_watch(work);
  spread_hosts(work);
  spread_imex(work);
  settle_cluster(work);
  for (auto& [name, group] : work.state.groups) settle_group(work, group);
  explain_cluster(work);
  for (auto& [name, group] : work.state.groups) ask_pools(work, group);
  for (const std::string& name : work.out.changes.dropped_groups) work.state.groups.erase(name);
  work.index();
  if (const auto next = work.observed.agenda.next(work.now())) work.wake_at(*next);
}

// Once for every run of the control plane: every slot is looked at.
void build_index(Work& work) {
  if (work.observed.index.built()) return;
  work.observed.index.build(work.state);
  for (auto& [id, slot] : work.state.slots) {
    work.look_at(slot);
    if (slot.machine) work.observed.slot_of_machine[slot.machine->id] = id;
    if (work.group_of(slot).type == NodeType::Controller) work.observed.controller = id;
  }
}

}  // namespace

bool Changes::none() const {
  return !cluster && !slurm && !removed && groups.empty() && dropped_groups.empty() && slots.empty() &&
         dropped_slots.empty() && events.empty();
}

Output step(ClusterState& state, Observed& observed, std::vector<Input> inputs, const Context& context) {
  Work work{state, observed, context, {}, {}};
  build_index(work);
  for (const Input& input : inputs) std::visit(Learn{work}, input);
  if (!work.out.changes.removed) {
    list_when_due(work);
    settle(work);
  }
  return std::move(work.out);
}

}  // namespace espalier::reconcile
