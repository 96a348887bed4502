#include "engine/launcher.h"

namespace espalier::engine {

struct Launcher::Call {
  reconcile::Pools::Group group;
  std::string pool;
  LaunchRequest request;
  std::mutex mutex;
  bool told = false;  // the pool has heard of its end: by an answer, or by the deadline
  Timers::Id deadline = 0;
};

void Launcher::demand(const ClusterId& cluster, const reconcile::Demand& demand) {
  {
    const std::lock_guard lock(mutex_);
    pools_.demand({cluster, demand.group}, demand.pool, demand.count, demand.returned, demand.controller);
  }
  hand_out();
}

void Launcher::forget(const ClusterId& cluster) {
  {
    const std::lock_guard lock(mutex_);
    pools_.forget(cluster);
  }
  hand_out();
}

void Launcher::reopen() {
  {
    const std::lock_guard lock(mutex_);
    pools_.reopen();
  }
  hand_out();
}

std::map<std::string, reconcile::PoolClosed> Launcher::closed_pools() {
  const std::lock_guard lock(mutex_);
  return pools_.closed(clock_.now());
}

void Launcher::launch(const ClusterId& cluster, reconcile::Launch launch) {
  const auto call = std::make_shared<Call>();
  call->group = {cluster, launch.request.group};
  call->pool = launch.pool;
  call->request = std::move(launch.request);
  {
    const std::lock_guard lock(mutex_);
    pools_.launched(call->group, call->pool);
  }
  {
    const std::lock_guard lock(call->mutex);
    call->deadline = timers_.schedule(clock_.now() + deadline_, [this, call] { overdue(call); });
  }
  calls_.post([this, call] { answered(call, provider_.launch(call->request)); });
}

void Launcher::answered(const std::shared_ptr<Call>& call, LaunchOutcome outcome) {
  bool first = false;
  {
    const std::lock_guard lock(call->mutex);
    first = !call->told;
    call->told = true;
    timers_.cancel(call->deadline);
  }
  if (first) {
    const std::lock_guard lock(mutex_);
    pools_.answered(call->group, call->pool, outcome ? FailureClass::None : outcome.error().kind,
                    outcome ? "" : outcome.error().message, clock_.now());
  }
  if (first || outcome)
    tell_(call->group.cluster, reconcile::LaunchDone{call->request.slot, call->request.key, outcome});
  hand_out();
}

void Launcher::overdue(const std::shared_ptr<Call>& call) {
  {
    const std::lock_guard lock(call->mutex);
    if (call->told) return;
    call->told = true;
  }
  const LaunchFailure failure{FailureClass::Unknown,
                              fmt::format("the provider has not answered for {} s", deadline_.count() / 1000)};
  {
    const std::lock_guard lock(mutex_);
    pools_.answered(call->group, call->pool, failure.kind, failure.message, clock_.now());
  }
  tell_(call->group.cluster, reconcile::LaunchDone{call->request.slot, call->request.key, tl::unexpected(failure)});
  hand_out();
}

// Grants what may go out now, and comes again when more may.
void Launcher::hand_out() {
  reconcile::Pools::Decision decision;
  {
    const std::lock_guard lock(mutex_);
    decision = pools_.decide(clock_.now());
    if (decision.wake != wake_time_) {
      if (wake_time_) timers_.cancel(wake_);
      wake_time_ = decision.wake;
      if (wake_time_)
        wake_ = timers_.schedule(*wake_time_, [this] {
          {
            const std::lock_guard inner(mutex_);
            wake_time_.reset();
          }
          hand_out();
        });
    }
  }
  for (auto& notice : decision.notices) tell_(notice.to.cluster, reconcile::PoolSeen{notice.pool, notice.closed});
  for (auto& grant : decision.grants)
    tell_(grant.to.cluster, reconcile::Granted{grant.to.name, grant.pool, grant.count});
}

}  // namespace espalier::engine
