#include "engine/actor.h"

namespace espalier::engine {

store::Commit commit_of(const ClusterState& state, const reconcile::Changes& changes) {
  store::Commit commit;
  commit.cluster = state.cluster.id;
  commit.expected_revision = state.revision;
  if (changes.removed) {
    commit.remove_cluster = true;
    return commit;
  }
  if (changes.cluster) commit.cluster_row = state.cluster;
  if (changes.slurm) commit.slurm = state.slurm;
  for (const auto& name : changes.groups) commit.put_groups.push_back(state.groups.at(name));
  commit.drop_groups.assign(changes.dropped_groups.begin(), changes.dropped_groups.end());
  for (const auto& id : changes.slots) commit.put_slots.push_back(state.slots.at(id));
  commit.drop_slots.assign(changes.dropped_slots.begin(), changes.dropped_slots.end());
  commit.events = changes.events;
  return commit;
}

}  // namespace espalier::engine
