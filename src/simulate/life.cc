#include "simulate/life.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulate/record.h"
#include "simulate/seats.h"
#include "simulate/tenant.h"
#include "simulation.h"

namespace espalier::simulate {

namespace {

constexpr Millis kSecond{1'000};
constexpr Millis kMinute{60'000};
constexpr int kSlices = 200;  // after each, progress is told
// Quiet is most of a long life: agents call seldom. What they have to tell they tell at once all the same.
constexpr engine::AgentPace kSeldom{10 * kMinute, 10 * kMinute};

sim::Options options(const Scenario& scenario) {
  sim::Options out;
  out.checks = false;
  out.calls.launch_from = scenario.launch.from;
  out.calls.launch_to = scenario.launch.to;
  out.machines.boot_from = scenario.boot.from;
  out.machines.boot_to = scenario.boot.to;
  out.machines.setup_from = scenario.setup.from;
  out.machines.setup_to = scenario.setup.to;
  out.machines.agent = kSeldom;
  out.ping_every = kMinute;
  out.reconcile.whole_wait = scenario.gives_up_after;
  auto& deadlines = out.reconcile.deadlines;  // a machine that takes its usual time is not late
  deadlines.booting = std::max(deadlines.booting, 2 * scenario.boot.to);
  deadlines.configuring = std::max(deadlines.configuring, 2 * scenario.setup.to);
  return out;
}

struct Arrival {
  Millis at{0};
  const sim::JobWish* job = nullptr;
};

std::vector<Arrival> arrivals(const Scenario& scenario) {
  std::vector<Arrival> out;
  for (const Jobs& jobs : scenario.jobs)
    for (int i = 0; i < jobs.times && jobs.at + i * jobs.every < scenario.duration; ++i)
      out.push_back({jobs.at + i * jobs.every, &jobs.job});
  std::ranges::stable_sort(out, {}, &Arrival::at);
  return out;
}

class Life {
 public:
  Life(const Scenario& scenario, bool continuous)
      : scenario_(scenario),
        arrivals_(arrivals(scenario)),
        world_(scenario.seed, with_record(options(scenario))),
        record_(scenario, world_.nature().now()),
        tenant_(scenario, continuous, world_) {
    world_.nature().faults = scenario.chances;
    world_.cloud().position_of_seat = [this](const std::string& type, int seat) { return seats_.at(type, seat); };
    for (const CapacityStep& step : scenario_.capacity)
      at(step.at, [this, &step] { world_.cloud().set_capacity(step.type, step.machines); });
    for (const Resize& change : scenario_.changes)
      at(change.at, [this, &change] {
        tenant_.wish(change.group, change.count);
        record_.wished(change.group, change.count, now());
      });
    for (const Failure& failure : scenario_.failures)
      if (failure.at) at(*failure.at, [this, &failure] { fail_once(failure); });
  }

  Result<LifeReport> live(const Progress& progress) {
    world_.start();
    each_second();
    each_minute();
    for (int slice = 1; slice <= kSlices; ++slice) {
      const Millis until = scenario_.duration * slice / kSlices;
      world_.run(begin_ + until - now(), [this] { return !tenant_.refusal().empty(); });
      if (!tenant_.refusal().empty()) return fail(ErrorCode::kInvalid, "{}", tenant_.refusal());
      if (!world_.broken().empty())
        return fail(ErrorCode::kInternal, "this scenario has shown a fault of Espalier's, please report it: {}",
                    world_.broken().front());
      progress(until);
    }
    LifeReport report;
    report.creations = tenant_.creations();
    report.failed_creations = tenant_.failed_creations();
    record_.finish(report, world_.cloud(), queue_, now());
    return report;
  }

 private:
  [[nodiscard]] Time now() { return world_.nature().now(); }

  sim::Options with_record(sim::Options out) {
    out.committed = [this](const store::Commit& commit) { record_.committed(commit, now()); };
    return out;
  }

  template <typename What>
  void at(Millis time, What what) {
    if (time == Millis(0)) return what();
    world_.nature().time.at(begin_ + time, std::move(what));
  }

  void each_second() {
    if ((now() - begin_).count() % (5 * kSecond.count()) == 0) tenant_.act();
    if (tenant_.may_submit()) {
      record_.in_service(now());
      for (; arrived_ < arrivals_.size() && begin_ + arrivals_[arrived_].at <= now(); ++arrived_)
        queue_.submit(*arrivals_[arrived_].job, begin_ + arrivals_[arrived_].at);
      if (sim::Slurm* slurm = world_.slurm_of(world_.cluster(kCluster)->cluster.id)) queue_.look(*slurm, now());
    }
    world_.nature().time.after(kSecond, [this] { each_second(); });
  }

  // ---- failures ----

  void each_minute() {
    for (const Failure& failure : scenario_.failures)
      if (failure.every) fail_at_random(failure);
    world_.nature().time.after(kMinute, [this] { each_minute(); });
  }

  void fail_at_random(const Failure& failure) {
    const double chance =
        1 - std::exp(-static_cast<double>(kMinute.count()) / static_cast<double>(failure.every->count()));
    for (const MachineId& id : alive(failure))
      if (world_.nature().time.chance(chance)) world_.cloud().die(id);
  }

  void fail_once(const Failure& failure) {
    if (failure.control_plane) return world_.crash();
    auto machines = alive(failure);
    for (int i = 0; i < failure.machines && !machines.empty(); ++i) {
      std::swap(machines[world_.nature().time.random().below(machines.size())], machines.back());
      world_.cloud().die(machines.back());
      machines.pop_back();
    }
  }

  // The machines that it concerns.
  std::vector<MachineId> alive(const Failure& failure) {
    std::vector<MachineId> out;
    for (const auto* made : world_.cloud().all_alive())
      if (made->request.host_name == failure.node || made->provided.group == failure.group)
        out.push_back(made->provided.machine.id);
    return out;
  }

  const Scenario& scenario_;
  const std::vector<Arrival> arrivals_;
  sim::Simulation world_;
  const Time begin_ = world_.nature().now();
  Record record_;
  Tenant tenant_;
  sim::JobQueue queue_;
  Seats seats_{scenario_.fabric};
  std::size_t arrived_ = 0;
};

}  // namespace

Result<LifeReport> live(const Scenario& scenario, bool continuous, const Progress& progress) {
  auto report = Life(scenario, continuous).live(progress);
  if (report) report->mode = continuous ? "continuous" : "all-or-nothing";
  return report;
}

}  // namespace espalier::simulate
