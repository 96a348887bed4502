#include "reconcile/slurm/ranks.h"

#include <algorithm>
#include <utility>

namespace espalier::reconcile {

void note_moved(Work& work) {
  Observed& observed = work.observed;
  if (!observed.unranked_since) observed.unranked_since = work.now();
  observed.moved_at = work.now();
}

void note_ranked(Work& work) {
  Observed& observed = work.observed;
  observed.unranked_since.reset();
  for (const SlotId& id : std::exchange(observed.unranked, {}))
    if (const Slot* slot = work.slot(id)) work.look_at(*slot);
}

void note_placed(Work& work, const SlurmWanted& wanted) {
  Observed& observed = work.observed;
  if (observed.unranked_since)
    for (const auto& [slot, machine] : wanted.machines)
      if (const auto before = observed.placed.find(slot); before == observed.placed.end() || before->second != machine)
        observed.unranked.insert(slot);
  observed.placed = wanted.machines;
  work.look_at(SlotState::Configuring);
  work.look_at(SlotState::Joining);
}

bool ranks_are_due(Work& work, const topology::ClusterPlan& plan) {
  const Observed& observed = work.observed;
  if (!observed.unranked_since) return false;
  if (topology::param(plan).empty()) {
    note_ranked(work);  // this topology says nothing of ranks
    return false;
  }
  const Time due = std::min(observed.moved_at + work.settings().ranks_quiet,
                            *observed.unranked_since + work.settings().ranks_longest);
  if (work.now() >= due) return true;
  work.wake_at(due);
  return false;
}

bool ranked(const Work& work, const Slot& slot) { return !work.observed.unranked.contains(slot.id); }

}  // namespace espalier::reconcile
