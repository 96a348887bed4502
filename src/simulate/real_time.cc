#include "simulate/real_time.h"

#include <utility>

#include "base/log.h"

namespace espalier::simulate {

namespace {

constexpr std::size_t kMostWaiting = 1000;  // requests
constexpr Millis kAtOnce{50};     // of real time: then requests are looked at, also when there is more to live
constexpr Millis kLongest{1000};  // of real time, without anything that is due

}  // namespace

// What `espalier capacity` shows and sets.
class RealTime::Pools final : public Capacity {
 public:
  Pools(sim::CapacityModel& model, sim::Simulation& world) : model_(model), world_(world) {}
  std::map<std::string, PoolUse> show() override {
    std::map<std::string, PoolUse> out;
    for (const auto& [type, pool] : model_.pools()) out[type].pool = pool;
    for (const auto* made : world_.cloud().all_alive()) {
      const std::string& type = made->request.instance_type;
      const auto [use, added] = out.try_emplace(type);
      if (added) use->second.pool = model_.pool(type);
      ++use->second.in_use;
    }
    return out;
  }
  Result<void> set(const std::string& instance_type, const Pool& pool) override {
    return model_.set(instance_type, pool);
  }
  void on_change(std::function<void()> callback) override { model_.on_change(std::move(callback)); }

 private:
  sim::CapacityModel& model_;
  sim::Simulation& world_;
};

RealTime::RealTime(Given given)
    : given_(std::move(given)),
      start_(SystemClock().now()),
      seats_(given_.fabric),
      world_(Random::from_system().next(), options()) {
  pools_ = std::make_unique<Pools>(*given_.pools, world_);
  world_.cloud().set_pools(given_.pools.get());
  // Ids of an earlier process are on disk.
  world_.cloud().number_from(static_cast<std::uint64_t>(start_.time_since_epoch().count()) << 20U);
  world_.cloud().position_of_seat = [this](const std::string& type, int seat) { return seats_.at(type, seat); };
  given_.pools->on_change([this] { world_.control_plane().capacity_changed(); });
}

RealTime::~RealTime() { given_.pools->on_change(nullptr); }

sim::Options RealTime::options() {
  sim::Options out;
  out.checks = false;
  out.own_log = false;
  out.start = start_;
  out.store = &given_.store;
  out.reconcile = given_.reconcile;
  // What goes on in quiet costs the same at every speed.
  out.machines.agent.long_poll *= given_.speed;
  out.machines.agent.heartbeat *= given_.speed;
  out.ping_every *= given_.speed;
  if (given_.services) out.services = [this](engine::Engine& engine) { return given_.services(engine, *pools_); };
  return out;
}

Result<void> RealTime::live() {
  world_.start();
  tell_of_ended_machines();
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    for (auto& what : std::exchange(posted_, {})) world_.nature().time.after(Millis(0), std::move(what));
    lock.unlock();
    const auto enough = std::chrono::steady_clock::now() + kAtOnce;
    world_.run(virtual_now() - world_.nature().now(), [&] { return std::chrono::steady_clock::now() > enough; });
    if (!world_.broken().empty())
      return fail(ErrorCode::kInternal, "a fault of Espalier's has shown, please report it: {}",
                  world_.broken().front());
    const auto next = real(world_.nature().time.next().value_or(Time::max()));
    lock.lock();
    if (posted_.empty() && !stopped_) changed_.wait_until(lock, next);
  }
  return {};
}

void RealTime::tell_of_ended_machines() {
  const auto states = given_.store.load();
  if (!states) return log::error("the store cannot be read: {}", states.error().message);
  for (const ClusterState& state : *states)
    for (const auto& [id, slot] : state.slots)
      if (slot.machine)
        world_.control_plane().tell_exit({*slot.machine, slot.launch_key, state.cluster.id, slot.group, id, false});
}

void RealTime::handle(http::Request request, http::Reply reply) {
  {
    const std::lock_guard lock(mutex_);
    if (posted_.size() < kMostWaiting && !stopped_) {
      posted_.push_back([this, request = std::move(request), reply = std::move(reply)]() mutable {
        world_.handle(std::move(request), std::move(reply));
      });
      changed_.notify_one();
      return;
    }
  }
  reply(api::too_busy());
}

void RealTime::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

Time RealTime::virtual_now() const {
  const auto real = std::chrono::duration_cast<Millis>((std::chrono::steady_clock::now() - begin_) * given_.speed);
  return start_ + real;
}

// At most a second from now: nothing is due for so long that a sum could overflow.
std::chrono::steady_clock::time_point RealTime::real(Time time) const {
  const auto most = std::chrono::steady_clock::now() + kLongest;
  if (time - start_ > std::chrono::hours(24 * 365 * 100)) return most;
  return std::min(most, begin_ + (time - start_ + Millis(given_.speed - 1)) / given_.speed);
}

}  // namespace espalier::simulate
