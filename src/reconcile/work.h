// One step under way: the state it changes and what it will answer. The decisions are free functions on it, one file
// a concern; step.cc calls them in order.
#pragma once

#include <string>
#include <string_view>
#include <utility>

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

  // ---- look-ups; nullptr when there is none
  Slot* slot(const SlotId& id);
  Slot* slot_of(const MachineId& machine);
  Slot* controller();
  Group& group_of(const Slot& slot) { return state.groups.at(slot.group); }
  // The controller, when its slurmctld answers and its agent is here.
  Slot* ready_controller();

  // ---- changes
  Slot& touch(Slot& slot);
  Group& touch(Group& group);
  Cluster& touch_cluster();
  // Follows the life table and returns true; an edge that is not in it is refused and logged.
  bool move(Slot& slot, Cause cause);
  void set(Slot& slot, ConditionType type, bool holds, std::string_view reason);
  void give_machine(Slot& slot, const ProvidedMachine& provided);
  void take_machine(Slot& slot);
  void drop(const SlotId& id);

  // Node → leaf of the plan for the state as it is; made once for as long as no place changes.
  const std::map<std::string, std::string>& planned_leaves();
  void places_changed() { planned_leaves_.reset(); }

  // ---- answers
  void effect(Effect effect) { out.effects.push_back(std::move(effect)); }
  void wake_at(Time time);
  void wake_in(Millis delay) { wake_at(now() + delay); }
  std::string send(const MachineId& machine, agent::Command command);  // returns the command's id

  std::optional<std::map<std::string, std::string>> planned_leaves_;
};

}  // namespace espalier::reconcile
