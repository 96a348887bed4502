// What must hold at every moment, whatever happens: held against what is on disk, what the cloud does and what Slurm
// has. A violation is reported to Nature and ends the run.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "cloud.h"
#include "model/cluster.h"
#include "slurm.h"
#include "store/store.h"

namespace espalier::sim {

// All rows are equal; the revision is the store's own.
bool same_rows(const ClusterState& a, const ClusterState& b);

class Checks {
 public:
  // `checking`: false only keeps what is on disk, for benchmarks.
  Checks(Nature& nature, Cloud& cloud, std::map<ClusterId, Slurm>& slurms, bool checking)
      : checking_(checking), nature_(nature), cloud_(cloud), slurms_(slurms) {}

  // This is on disk now.
  void committed(const store::Commit& commit);
  // Whether this is on disk is not known: the disk failed under it.
  void in_doubt(const store::Commit& commit) { in_doubt_.push_back(commit); }
  // This was read from the disk: it has to be what was committed, and of what is in doubt whole commits or nothing.
  void found(const std::vector<ClusterState>& states);
  // The engine lets go of these calls; they reach the cloud later.
  void launch_asked(const LaunchRequest& request);
  void terminate_asked(const MachineId& id);
  // After every order to slurmctld.
  void look_at_slurm(const Slurm& slurm);

  std::function<void(const store::Commit&)> on_commit;  // hears of everything that is on disk now

  // What is on disk.
  [[nodiscard]] const std::map<ClusterId, ClusterState>& disk() const { return disk_; }
  [[nodiscard]] const ClusterState* cluster(const ClusterId& id) const;
  [[nodiscard]] const std::vector<Event>& events(const ClusterId& id) { return events_[id]; }

 private:
  void look_at_events(const store::Commit& commit);
  void look_at_slots(const ClusterState& state);
  void look_for_lost(const ClusterState& before, const store::Commit& commit);
  void look_for_untold(const ClusterState& before, const store::Commit& commit);

  const bool checking_;
  Nature& nature_;
  Cloud& cloud_;
  std::map<ClusterId, Slurm>& slurms_;
  std::map<ClusterId, ClusterState> disk_;
  std::map<ClusterId, std::vector<Event>> events_;
  std::set<std::string> event_ids_;
  std::set<std::string> told_once_;
  std::set<ClusterId> controller_was_up_;
  std::vector<store::Commit> in_doubt_;
  std::set<std::string> keys_asked_;
};

}  // namespace espalier::sim
