#include "agent/agent.h"

#include <csignal>
#include <thread>

#include "agent/backoff.h"
#include "agent/extra_files.h"
#include "agent/health.h"
#include "agent/setup.h"
#include "agent/slurm_steps.h"
#include "base/log.h"
#include "base/random.h"

namespace espalier::agent {

namespace {

constexpr Millis kFirstPause{50};
constexpr Millis kLongestPause{2000};
constexpr Millis kHostsTime{60'000};            // the control plane may be on its way back
constexpr Millis kLongestRefusedPause{10'000};  // a control plane that refuses us must not be pestered

// Waits before the next try after a failure; says so once, not at every try.
class Retry {
 public:
  explicit Retry(const char* what) : what_(what) {}

  void succeeded() {
    if (failing_) log::info("{}: works again", what_);
    failing_ = false;
    pauses_.reset();
    refused_pauses_.reset();
  }
  void failed(const Error& error) {
    if (!failing_) log::warn("{}: {}; trying again", what_, error.message);
    failing_ = true;
    std::this_thread::sleep_for((error.code == ErrorCode::kPermission ? refused_pauses_ : pauses_).next());
  }

 private:
  const char* what_;
  Backoff pauses_{kFirstPause, kLongestPause, Random::from_system()};
  Backoff refused_pauses_{kFirstPause, kLongestRefusedPause, Random::from_system()};
  bool failing_ = false;
};

}  // namespace

Agent::Agent(std::unique_ptr<Link> link, Processes& processes)
    : boot_(Random::from_system().hex(16)),
      link_(std::move(link)),
      run_([&processes](const std::vector<std::string>& argv, Millis timeout) { return processes.run(argv, timeout); }),
      outbox_(boot_),
      lifecycle_(processes, [this](const std::string& digest) { return link_->fetch(digest); }),
      checks_(processes, [this](CommandResult result) { outbox_.add_result(std::move(result)); }),
      daemons_(processes, [this](std::vector<DaemonView> views) { outbox_.set_daemons(std::move(views)); }) {}

void Agent::take_commands() {
  Retry retry("asking for commands");
  for (;;) {
    auto answer = link_->next({boot_, control_plane_boot_, acknowledged_});
    if (!answer) {
      // Whoever answers next may be another control plane, that knows nothing.
      outbox_.tell_all_again();
      retry.failed(answer.error());
      continue;
    }
    retry.succeeded();
    take(*answer);
  }
}

void Agent::send_reports() {
  Retry retry("reporting");
  for (;;) {
    Report report = outbox_.next_report(kHeartbeat);
    report.sent_at = SystemClock().now();
    if (auto sent = link_->report(report); !sent) {
      retry.failed(sent.error());
      continue;
    }
    outbox_.acknowledge(report);
    retry.succeeded();
  }
}

void Agent::watch_health() {
  for (;;) {
    outbox_.set_health(look_at_health(link_->machine_id(), "/", run_));
    std::this_thread::sleep_for(kHeartbeat);
  }
}

void Agent::take(const NextAnswer& answer) {
  if (answer.control_plane_boot != control_plane_boot_) {
    control_plane_boot_ = answer.control_plane_boot;
    acknowledged_ = 0;
    outbox_.tell_all_again();
  }
  for (const auto& command : answer.commands) {
    if (command.sequence <= acknowledged_) continue;
    if (!outbox_.repeat_result(command.id))
      if (auto result = carry_out(command)) outbox_.add_result(std::move(*result));
    acknowledged_ = command.sequence;
  }
}

std::optional<CommandResult> Agent::carry_out(const Command& command) {
  CommandResult result{command.id, true, "", {}};
  Result<void> done;
  if (command.setup) {
    done = bring_hosts().and_then([&] { return set_up(*command.setup, {daemons_, slurm_folder_, run_, lifecycle_}); });
    if (done && command.setup->role == NodeType::Controller && !watch_)
      watch_.emplace(run_, [this](const auto& nodes, bool all) { outbox_.set_nodes(nodes, all); });
  } else if (command.hosts) {
    done = bring_hosts();
  } else if (command.hosts_delta) {
    done = change_hosts(*command.hosts_delta);
  } else if (command.extra) {
    done = put_extra_files(*command.extra);
  } else if (command.slurm) {
    done = carry_out_slurm(*command.slurm, result.steps);
  } else if (command.watch && watch_) {
    watch_->look_closely_at(*command.watch);
  } else if (command.check) {
    done = checks_.begin(command.id, *command.check);
    if (done) return std::nullopt;
  } else if (command.renew) {
    done = link_->renew();
  } else if (command.call_again) {
    done = daemons_.send("slurmd", SIGHUP);  // it reads its configuration anew and registers; jobs go on
  } else {
    done = fail(ErrorCode::kInvalid, "this machine cannot carry out that command now");
  }
  if (done) return result;
  log::warn("command {}: {}", command.id, done.error().message);
  result.ok = false;
  result.error = done.error().message;
  return result;
}

Result<void> Agent::bring_hosts() {
  const auto hosts = ask_for(kHostsTime, [this] { return link_->hosts(); });
  if (!hosts) return fail(hosts.error().code, "the names of the cluster's machines: {}", hosts.error().message);
  return set_hosts(*hosts);
}

Result<void> Agent::carry_out_slurm(const std::vector<SlurmStep>& steps, std::vector<SlurmStepResult>& results) {
  if (!watch_) return fail(ErrorCode::kConflict, "this machine is no controller: it has no slurmctld");
  results = SlurmSteps(slurm_folder_, run_, kSlurmctldLog).carry_out(steps);
  watch_->poke();
  if (results.empty() || results.back().ok) return {};
  return fail(ErrorCode::kUnavailable, "step {} ({}): {}", results.size(), enum_name(steps[results.size() - 1].kind),
              results.back().output);
}

}  // namespace espalier::agent
