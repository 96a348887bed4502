// Launches of all clusters: asks the pools who may, calls the provider, tells the clusters.
//
// Every call has a deadline of ours: after it the cluster is told that the outcome is not known; an answer that comes
// later is passed on all the same. Safe from any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/timers.h"
#include "provider/provider.h"
#include "reconcile/pools.h"
#include "reconcile/step.h"

namespace espalier::engine {

class Launcher {
 public:
  using Tell = std::function<void(const ClusterId&, reconcile::Input)>;
  // `calls` runs what blocks. All must outlive the launcher's last task.
  Launcher(Clock& clock, Timers& timers, Executor& calls, Provider& provider, reconcile::Pools pools, Millis deadline,
           Tell tell)
      : clock_(clock),
        timers_(timers),
        calls_(calls),
        provider_(provider),
        tell_(std::move(tell)),
        deadline_(deadline),
        pools_(std::move(pools)) {}

  void demand(const ClusterId& cluster, const reconcile::Demand& demand);
  void launch(const ClusterId& cluster, reconcile::Launch launch);
  void forget(const ClusterId& cluster);
  // There may be more now: whoever waits tries again at once.
  void reopen();
  [[nodiscard]] std::map<std::string, reconcile::PoolClosed> closed_pools();

 private:
  struct Call;
  void answered(const std::shared_ptr<Call>& call, LaunchOutcome outcome);
  void overdue(const std::shared_ptr<Call>& call);
  void hand_out();

  Clock& clock_;
  Timers& timers_;
  Executor& calls_;
  Provider& provider_;
  const Tell tell_;
  const Millis deadline_;
  std::mutex mutex_;  // what follows
  reconcile::Pools pools_;
  Timers::Id wake_ = 0;
  std::optional<Time> wake_time_;
};

}  // namespace espalier::engine
