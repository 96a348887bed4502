// One step under way: the state it changes and what it will answer. The decisions are free functions on it, one file
// a concern; step.cc calls them in order.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reconcile/step.h"

namespace espalier::reconcile {

struct Work {
  ClusterState& state;
  Observed& observed;
  const Context& context;
  Output out;

  [[nodiscard]] Time now() const { return context.now; }
  [[nodiscard]] const Settings& settings() const { return *context.settings; }
  [[nodiscard]] bool deleting() const { return state.cluster.status == ClusterStatus::Deleting; }
  // All of it goes, its controller too: nobody is asked whether a machine may end.
  [[nodiscard]] bool ending() const {
    const auto& change = state.cluster.change;
    return deleting() || (change && change->creation && change->rolling_back);
  }

  // ---- look-ups; nullptr when there is none
  Slot* slot(const SlotId& id);
  Slot* slot_of(const MachineId& machine);
  Slot* slot_of_node(const std::string& node_name);
  Slot* controller();
  Group& group_of(const Slot& slot) { return state.groups.at(slot.group); }
  // The controller, when its slurmctld answers and its agent is here.
  Slot* ready_controller();
  // With all changes so far.
  const Index& index();
  std::vector<Slot*> slots_in(SlotState in);

  // ---- changes
  Slot& add(Slot slot);
  // Every change of a row goes through these.
  Slot& touch(Slot& slot);
  Group& touch(Group& group);
  Cluster& touch_cluster();
  // Follows the life table and returns true; an edge that is not in it is refused and logged.
  bool move(Slot& slot, Cause cause);
  void set(Slot& slot, ConditionType type, bool holds, std::string_view reason);
  void give_machine(Slot& slot, const ProvidedMachine& provided);
  void take_machine(Slot& slot);
  void drop(const SlotId& id);
  // What Slurm or /etc/hosts should be told may be another now.
  void places_changed();
  // The same, when it is only that this slot's machine came, went or was located.
  void place_changed(const Slot& slot);

  // ---- what is to be looked at: in this step, or when its time has come
  void look_at(const Slot& slot) { observed.agenda.now(slot.id); }
  void look_at(SlotState in);
  void look_at(const Slot& slot, Time when) { observed.agenda.at(slot.id, when); }

  // ---- answers
  void effect(Effect effect) { out.effects.push_back(std::move(effect)); }
  void wake_at(Time time);
  std::string send(const MachineId& machine, agent::Command command);  // returns the command's id

  std::vector<SlotId> unindexed;
};

}  // namespace espalier::reconcile
