#include "control_plane.h"

#include <utility>

namespace espalier::sim {

namespace {

tl::unexpected<Error> ended() { return fail(ErrorCode::kUnavailable, "the process has ended"); }

LaunchFailure failed(FailureClass kind) { return {kind, fmt::format("the cloud says {}", enum_name(kind))}; }

}  // namespace

// The store, as a process sees it: commits may fail, lie, or be the last thing that it did.
class ControlPlane::Disk final : public store::Store {
 public:
  explicit Disk(ControlPlane& process) : process_(process), nature_(process.given_.nature) {}

  Result<std::int64_t> apply(const store::Commit& commit) override {
    if (!process_.alive()) return ended();
    if (nature_.strikes(Fault::Crash)) {
      process_.die("before a commit");
      return ended();
    }
    if (nature_.strikes(Fault::StoreFails)) return fail(ErrorCode::kUnavailable, "the disk is full");
    MemoryDisk* const under = process_.given_.memory_disk;
    if (under != nullptr && nature_.strikes(Fault::PowerFails))
      under->power_fails_at_write(nature_.time.between(1, 12));
    auto revision = process_.given_.disk.apply(commit);
    if (under != nullptr && under->has_failed()) {
      process_.given_.checks.in_doubt(commit);
      process_.die("in the middle of a commit");
      return ended();
    }
    if (!revision) return revision;
    process_.given_.checks.committed(commit);
    if (nature_.strikes(Fault::Crash)) {
      process_.die("after a commit");
      return ended();
    }
    if (nature_.strikes(Fault::StoreSilent)) return fail(ErrorCode::kTimeout, "no answer of the disk");
    return revision;
  }
  Result<std::vector<ClusterState>> load() override { return process_.given_.disk.load(); }
  Result<std::vector<Event>> events(const store::EventQuery& query) override {
    return process_.given_.disk.events(query);
  }
  Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& id) override {
    return process_.given_.disk.event(cluster, id);
  }
  Result<void> prune_events(const ClusterId& cluster, std::int64_t keep) override {
    if (!process_.alive()) return ended();
    return process_.given_.disk.prune_events(cluster, keep);
  }
  Result<std::vector<AccessKey>> access_keys() override { return process_.given_.disk.access_keys(); }
  Result<void> put_access_key(const AccessKey& key) override { return process_.given_.disk.put_access_key(key); }
  Result<void> drop_access_key(const std::string& id) override { return process_.given_.disk.drop_access_key(id); }

 private:
  ControlPlane& process_;
  Nature& nature_;
};

// The line to the cloud: calls take time, fail, hang, and answer wrongly.
class ControlPlane::Line final : public Provider {
 public:
  explicit Line(ControlPlane& process) : process_(process), nature_(process.given_.nature) {}

  [[nodiscard]] std::string name() const override { return "sim"; }
  Result<void> offers(const std::string&) const override { return {}; }

  LaunchOutcome launch(const LaunchRequest& request) override {
    if (Counters* const counters = process_.given_.counters) ++counters->launches;
    process_.given_.checks.launch_asked(request);
    const CallPace& pace = process_.given_.pace;
    const tl::unexpected<LaunchFailure> unknown(LaunchFailure{FailureClass::Unknown, "no answer of the cloud"});
    const Millis more = cloud().launch_time(request.instance_type);
    if (!passes(pace.launch_from + more, pace.launch_to + more) || !lives("before a launch")) return unknown;
    if (cloud().hanging.contains(request.instance_type) && !CallExecutor::pause(std::chrono::hours(24))) return unknown;
    // A failure promises that no machine came of the key: launch.h.
    const bool may_fail = cloud().made_by(request.key) == nullptr;
    if ((may_fail && nature_.strikes(Fault::Throttled)) || !cloud().lets_launch())
      return tl::unexpected(failed(FailureClass::Throttling));
    if (may_fail && nature_.strikes(Fault::LaunchFails)) return tl::unexpected(any_failure());
    auto outcome = cloud().launch(request);
    if (outcome && outcome->running) leave_out(outcome->machine);
    const bool silent = nature_.strikes(Fault::LaunchSilent);
    if (!lives("after a launch") || !passes(pace.other_from, pace.other_to) || silent) return unknown;
    return outcome;
  }

  Result<void> terminate(const MachineId& id) override {
    if (Counters* const counters = process_.given_.counters) ++counters->terminations;
    process_.given_.checks.terminate_asked(id);
    if (!passes() || !lives("before a termination")) return ended();
    if (nature_.strikes(Fault::TerminateFails)) return fail(ErrorCode::kUnavailable, "the cloud does not terminate");
    auto done = cloud().terminate(id);
    const bool silent = nature_.strikes(Fault::TerminateSilent);
    if (!lives("after a termination") || !passes() || silent)
      return fail(ErrorCode::kTimeout, "no answer of the cloud");
    return done;
  }

  Result<std::vector<ProvidedMachine>> list(const ClusterId& cluster) override {
    if (Counters* const counters = process_.given_.counters) ++counters->lists;
    if (!passes()) return ended();
    if (nature_.strikes(Fault::ListFails)) return fail(ErrorCode::kUnavailable, "the cloud does not list");
    const Millis lag = nature_.strikes(Fault::ListLags) ? nature_.time.between(Millis(0), Millis(60'000)) : Millis(0);
    auto machines = cloud().list(cluster, lag);
    for (ProvidedMachine& provided : machines) leave_out(provided.machine);
    if (!passes() || !lives("after a list")) return ended();
    return machines;
  }

  [[nodiscard]] std::vector<std::string> images() const override { return {kImages.begin(), kImages.end()}; }

  Result<void> reboot(const MachineId& id) override {
    if (!passes() || !lives("before a reboot")) return ended();
    if (nature_.strikes(Fault::TerminateFails)) return fail(ErrorCode::kUnavailable, "the cloud does not reboot");
    auto done = cloud().reboot(id);
    const bool silent = nature_.strikes(Fault::TerminateSilent);
    if (!lives("after a reboot") || !passes() || silent) return fail(ErrorCode::kTimeout, "no answer of the cloud");
    return done;
  }

  Result<void> remove_volumes(const ClusterId& cluster) override {
    if (!passes() || !lives("before the volumes are removed")) return ended();
    if (nature_.strikes(Fault::TerminateFails)) return fail(ErrorCode::kUnavailable, "the cloud does not remove them");
    cloud().remove_volumes(cluster);
    if (!lives("after the volumes are removed") || !passes()) return ended();
    return {};
  }

  void on_exit(std::function<void(const ProvidedMachine&)> callback) override { on_exit_ = std::move(callback); }
  void tell_exit(const ProvidedMachine& machine) const {
    if (on_exit_) on_exit_(machine);
  }

  // A call takes its time; false when the process has ended meanwhile.
  bool passes() { return passes(process_.given_.pace.other_from, process_.given_.pace.other_to); }
  bool lives(const char* where) {
    if (process_.alive() && nature_.strikes(Fault::Crash)) process_.die(where);
    return process_.alive();
  }

 private:
  Cloud& cloud() { return process_.given_.cloud; }
  bool passes(Millis from, Millis to) {
    if (process_.given_.pace.at_once || Fiber::current() == nullptr) return process_.alive();
    Millis takes = nature_.time.between(from, to);
    if (nature_.strikes(Fault::CallSlow)) takes += nature_.time.between(Millis(0), Millis(30'000));
    if (nature_.strikes(Fault::CallHangs)) takes += nature_.time.between(Millis(60'000), Millis(600'000));
    return CallExecutor::pause(takes);
  }
  // What the cloud does not know yet, or does not say.
  void leave_out(espalier::Machine& machine) {
    if (nature_.strikes(Fault::PositionLater)) machine.position = {};
    if (nature_.strikes(Fault::AddressLater)) machine.address.clear();
  }
  LaunchFailure any_failure() {
    using enum FailureClass;
    static constexpr std::array kAny{Shortage, Quota, WrongConfiguration, BadMachine, Unknown};
    return failed(kAny.at(nature_.time.random().below(kAny.size())));
  }

  ControlPlane& process_;
  Nature& nature_;
  std::function<void(const ProvidedMachine&)> on_exit_;
};

// The users' scripts, always the same ones; reading them takes time.
class ControlPlane::Scripts final : public ScriptSource {
 public:
  explicit Scripts(Line& line) : line_(line) {}
  Result<ScriptBundle> fetch(const std::string& uri) override {
    if (!line_.passes() || !line_.lives("while scripts are fetched")) return ended();
    const std::vector<ScriptFile> files{{"on_create.sh", "IyEvYmluL3NoCg==", true}};
    return ScriptBundle{uri, digest_of(files), files};
  }

 private:
  Line& line_;
};

ControlPlane::ControlPlane(Given given)
    : given_(std::move(given)),
      clock_(given_.nature.time, given_.clock_skew),
      timers_(given_.nature.time, clock_, life_),
      steps_(given_.nature.time, life_, given_.counters == nullptr ? nullptr : &given_.counters->step_seconds),
      calls_at_once_(given_.nature.time, life_, nullptr),
      calls_(given_.nature.time, life_, given_.pace.other_threads),
      launches_(given_.nature.time, life_, given_.pace.launch_threads),
      disk_(std::make_unique<Disk>(*this)),
      line_(std::make_unique<Line>(*this)),
      scripts_(std::make_unique<Scripts>(*line_)),
      hub_(given_.boot, clock_, timers_, given_.agents),
      engine_({clock_, steps_, given_.pace.at_once ? static_cast<Executor&>(calls_at_once_) : calls_, timers_, *disk_,
               *line_, hub_, [&random = given_.nature.time.random()] { return Random(random.next()); },
               [&random = given_.nature.time.random()](int bytes) { return random.hex(2 * bytes); },
               given_.pace.at_once ? static_cast<Executor*>(&calls_at_once_) : &launches_, scripts_.get()},
              given_.settings),
      api_(given_.services ? given_.services(engine_) : api::Services{engine_, nullptr, {}, nullptr, nullptr},
           Random(given_.nature.time.random().next())) {}

ControlPlane::~ControlPlane() {
  if (alive()) die("at the end");
  calls_.end();
  launches_.end();
}

Result<void> ControlPlane::start() {
  hub_.listen_for_silence();
  return engine_.start();
}

void ControlPlane::handle(Door door, http::Request request, http::Reply reply) {
  auto once = [this, life = life_, reply = std::move(reply)](http::Response response) {
    Nature& nature = given_.nature;
    // There are many answers: each is worth less of a crash than a commit or an effect.
    if (life->alive && nature.time.chance(nature.faults.rate(Fault::Crash) / 20)) die("before an answer");
    if (life->alive) reply(std::move(response));
  };
  if (door == Door::kAgents)
    hub_.handle(std::move(request), std::move(once));
  else
    api_.handle(std::move(request), std::move(once));
}

void ControlPlane::set_clock(Millis skew) {
  given_.nature.log("the control plane's clock is set to {} ms", skew.count());
  clock_.set(skew);
  timers_.rearm();
}

void ControlPlane::tell_exit(const ProvidedMachine& machine) { line_->tell_exit(machine); }

void ControlPlane::die(const char* where) {
  if (!std::exchange(life_->alive, false)) return;
  given_.nature.log("the control plane ends {}", where);
}

}  // namespace espalier::sim
