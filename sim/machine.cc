#include "machine.h"

#include <algorithm>
#include <utility>

#include "agent/slurm_text.h"
#include "agent/watch.h"
#include "model/instance_type.h"
#include "slurm/hostlist.h"

namespace espalier::sim {

namespace {

constexpr Millis kCallTimeout{10'000};
constexpr Millis kNextTimeout{10'000};  // more than the long poll takes
constexpr Millis kFirstPause{50};
constexpr Millis kLongestPause{2'000};
constexpr Millis kRefusedPause{10'000};
constexpr Millis kClockOff{600'000};    // at most
constexpr Millis kMungeTakes{300'000};  // a clock that is off by more: nobody believes its messages

Millis grow(Millis& pause, bool refused) {
  pause = std::clamp(pause * 2, kFirstPause, refused ? kRefusedPause : kLongestPause);
  return pause;
}

// " WriteFiles Reconfigure UpdateNodes g0-[1-3] DOWN"
std::string text_of(const std::vector<agent::SlurmStep>& steps) {
  std::string out;
  for (const agent::SlurmStep& step : steps) {
    out += fmt::format(" {}", enum_name(step.kind));
    for (const auto* word : {&step.partition, &step.nodes, &step.state})
      if (!word->empty()) out += " " + *word;
  }
  return out;
}

}  // namespace

Machine::Machine(Nature& nature, Network& network, Slurm& slurm, const MachinePace& pace, const Cloud::Made& made,
                 bool keeps_hosts)
    : nature_(nature),
      network_(network),
      slurm_(slurm),
      pace_(pace),
      id_(made.provided.machine.id),
      address_(made.provided.machine.address),
      request_(made.request),
      keeps_hosts_(keeps_hosts),
      slurmd_is_broken_(nature.strikes(Fault::NeverRegisters)),
      clock_ahead_(nature.strikes(Fault::ClockSkew) ? nature.time.between(-kClockOff, kClockOff) : Millis(0)) {
  if (std::chrono::abs(clock_ahead_) > kMungeTakes) slurmd_is_broken_ = true;
}

template <typename Then>
void Machine::later(Millis delay, Then then) {
  nature_.time.after(delay, [self = weak_from_this(), run = run_, then = std::move(then)] {
    const auto machine = self.lock();
    if (machine && machine->alive_ && machine->run_ == run) then();
  });
}

void Machine::boot() {
  if (nature_.strikes(Fault::NeverBoots)) return;
  later(nature_.time.between(pace_.boot_from, pace_.boot_to), [this] { start_agent(); });
}

void Machine::end() {
  alive_ = false;
  stop_daemons();
}

void Machine::stop_daemons() {
  if (request_.role == NodeType::Controller) {
    if (set_up_) slurm_.stop();
  } else if (registered_ && slurm_.nodes().contains(node()) && slurm_.nodes().at(node()).address == address_) {
    slurm_.machine_dies(node());
  }
  set_up_ = slurmd_ = registered_ = false;
}

void Machine::reboot() {
  nature_.log("{} of {} reboots", id_.value, node());
  ++run_;
  stop_daemons();
  boot();
}

void Machine::restart_agent() {
  if (!alive_ || run_ == 0) return;
  nature_.log("{} of {}: its agent starts anew", id_.value, node());
  start_agent();
}

void Machine::restart_slurmctld(Millis length, bool forgets) {
  if (!runs_slurmctld() || !slurm_.up()) return;
  nature_.log("{}: slurmctld restarts{}", node(), forgets ? " from an old state" : "");
  slurm_.stop();
  nature_.time.after(length, [self = weak_from_this(), forgets] {
    const auto machine = self.lock();
    if (!machine || !machine->runs_slurmctld() || machine->slurm_.up()) return;
    if (forgets)
      machine->slurm_.start_from_saved();
    else
      machine->slurm_.start_again();
  });
}

// ---- the agent -----------------------------------------------------------------------------------------------------

void Machine::start_agent() {
  ++run_;
  boot_ = nature_.time.random().hex(16);
  control_plane_boot_.clear();
  acknowledged_ = 0;
  polled_ = decided_after_ = Time{};
  outbox_ = std::make_unique<agent::Outbox>(boot_);
  outbox_->set_health(health());
  commands_.clear();
  reporting_ = news_ = false;
  seen_ = 0;
  closely_.clear();
  poll();
  heartbeat();
  if (request_.role == NodeType::Controller) look_widely();
}

void Machine::call(const std::string& path, std::string body, Millis timeout,
                   std::function<void(const http::Response&)> answer, std::function<void(bool refused)> failed) {
  if (path != "/enrol" && credential_.empty())
    return enrol(failed, [this, path, body, timeout, answer, failed] { call(path, body, timeout, answer, failed); });
  http::Request request{"POST", path, {}, std::move(body), address_};
  if (!credential_.empty()) request.headers.emplace("Authorization", "Bearer " + credential_);
  network_.call(Door::kAgents, std::move(request), timeout,
                [self = weak_from_this(), run = run_, used = credential_, answer = std::move(answer),
                 failed = std::move(failed)](const std::optional<http::Response>& response) {
                  const auto machine = self.lock();
                  if (!machine || !machine->alive_ || machine->run_ != run) return;
                  if (response && response->status == 200) return answer(*response);
                  if (response && response->status == 401 && machine->credential_ == used) {
                    machine->refused_ = used;
                    machine->credential_.clear();
                  }
                  if (response)
                    machine->nature_.log("{} of {}: the control plane answers {}", machine->id_.value, machine->node(),
                                         response->status);
                  failed(response && (response->status == 401 || response->status == 403));
                });
}

void Machine::enrol(std::function<void(bool refused)> failed, std::function<void()> done) {
  const agent::Enrol body{id_.value, request_.user_data.token, "sim", "24.11"};
  call(
      "/enrol", json::serialize(to_json(body)), kCallTimeout,
      [this, done = std::move(done)](const http::Response& response) {
        credential_ = from_json<agent::Enrolled>(parse_json(response.body).value()).value().credential;
        done();
      },
      [this, failed = std::move(failed)](bool refused) {
        if (refused) credential_ = refused_;  // an older control plane may know it again
        failed(refused);
      });
}

void Machine::poll() {
  const agent::NextCall body{boot_, control_plane_boot_, acknowledged_};
  call(
      "/next", json::serialize(to_json(body)), pace_.agent.long_poll + kNextTimeout,
      [this, sent = nature_.now()](const http::Response& response) {
        poll_pause_ = Millis(0);
        decided_after_ = std::exchange(polled_, sent);
        take(response.body);
      },
      [this](bool refused) { poll_failed(refused); });
}

void Machine::poll_failed(bool refused) {
  news_ = true;
  outbox_->tell_all_again();  // whoever answers next may be another control plane, that knows nothing
  later(grow(poll_pause_, refused), [this] { poll(); });
}

void Machine::take(const std::string& body) {
  auto answer = from_json<agent::NextAnswer>(parse_json(body).value()).value();
  if (answer.control_plane_boot != control_plane_boot_) {
    control_plane_boot_ = answer.control_plane_boot;
    acknowledged_ = 0;
    news_ = true;
    outbox_->tell_all_again();
  }
  for (auto& command : answer.commands) commands_.push_back(std::move(command));
  flush(false);
  next_command();
}

// One after the other; the next poll when all are carried out.
void Machine::next_command() {
  while (!commands_.empty() && commands_.front().sequence <= acknowledged_) commands_.pop_front();
  if (commands_.empty()) return poll();
  const agent::Command command = std::move(commands_.front());
  commands_.pop_front();
  if (outbox_->repeat_result(command.id)) {
    news_ = true;
    acknowledged_ = command.sequence;
    flush(false);
    return next_command();
  }
  const bool long_one = command.setup.has_value();
  const Millis takes = long_one ? nature_.time.between(pace_.setup_from, pace_.setup_to)
                                : nature_.time.between(pace_.slurm_from, pace_.slurm_to);
  later(takes, [this, command] {
    const auto finish = [this, command] {
      carry_out(command);
      acknowledged_ = command.sequence;
      flush(false);
      next_command();
    };
    if (command.setup || command.hosts)
      bring_hosts(finish);
    else
      finish();
  });
}

void Machine::bring_hosts(std::function<void()> done) {
  call(
      "/hosts", "{}", kCallTimeout,
      [this, done](const http::Response& response) {
        hosts_pause_ = Millis(0);
        if (keeps_hosts_) {
          hosts_.clear();
          const auto answer = from_json<agent::HostsAnswer>(parse_json(response.body).value()).value();
          for (const auto& entry : answer.hosts) hosts_[entry.name] = entry.address;
        }
        done();
      },
      [this, done](bool refused) { later(grow(hosts_pause_, refused), [this, done] { bring_hosts(done); }); });
}

void Machine::change_hosts(const agent::HostsDelta& delta) {
  if (!keeps_hosts_) return;
  for (const auto& name : delta.drop) hosts_.erase(name);
  for (const auto& entry : delta.put) hosts_[entry.name] = entry.address;
}

void Machine::carry_out(const agent::Command& command) {
  if (command.setup) {
    outbox_->add_result(set_up(command));
  } else if (command.slurm) {
    agent::CommandResult result{command.id, false, "this machine is no controller: it has no slurmctld", {}};
    if (runs_slurmctld()) result = slurm_.carry_out(command.id, *command.slurm, decided_after_);
    nature_.log("{} of {}: order{}: {}", id_.value, node(), text_of(*command.slurm), result.ok ? "done" : "failed");
    outbox_->add_result(std::move(result));
    look(true);
  } else {
    if (command.watch && std::exchange(closely_, *command.watch).empty()) look_closely();
    if (command.call_again) try_to_register();
    if (command.hosts_delta) change_hosts(*command.hosts_delta);
    outbox_->add_result({command.id, true, "", {}});
  }
  news_ = true;  // now: a look at Slurm, on the way, flushes what there was before
}

agent::CommandResult Machine::set_up(const agent::Command& command) {
  if (nature_.strikes(Fault::SetupFails)) return {command.id, false, "munged does not start", {}};
  nature_.log("{} of {}: set up", id_.value, node());
  set_up_ = true;
  if (request_.role == NodeType::Controller) {
    if (!std::exchange(has_files_, true)) slurm_.new_machine();
    slurm_.start(command.setup->files);
    look(true);
  }
  if (request_.role == NodeType::Compute && !std::exchange(slurmd_, true) && !slurmd_is_broken_) try_to_register();
  return {command.id, true, "", {}};
}

// ---- reports -------------------------------------------------------------------------------------------------------

void Machine::flush(bool heartbeat) {
  if (reporting_) return;
  if (!heartbeat && !news_) return;
  agent::Report report;
  report.boot = boot_;
  if (std::exchange(news_, false)) report = outbox_->next_report(Millis(0));
  report.sent_at = nature_.now() + clock_ahead_;
  if (heartbeat) report.health = health();
  if (!heartbeat && !report.health && report.results.empty() && report.nodes.empty() && report.daemons.empty()) return;
  reporting_ = true;
  auto done = [this, report](bool sent, bool refused) {
    reporting_ = false;
    if (!report.results.empty() || !report.nodes.empty()) news_ = true;  // more than one report takes, or not taken
    if (!sent) return later(grow(report_pause_, refused), [this] { flush(true); });
    report_pause_ = Millis(0);
    outbox_->acknowledge(report);
    slurm_.shown(report.nodes, nature_.now());
    for (const auto& result : report.results)
      if (result.steps.size() > 1) slurm_.shown(agent::parse_nodes(result.steps.back().output), nature_.now());
    flush(false);
  };
  call(
      "/report", json::serialize(to_json(report)), kCallTimeout, [done](const http::Response&) { done(true, false); },
      [done](bool refused) { done(false, refused); });
}

agent::HealthView Machine::health() const {
  agent::HealthView view;
  view.machine_id = id_.value;
  if (const InstanceType* type = find_instance_type(request_.instance_type)) {
    view.gpus = type->gpus;
    view.neuron_devices = type->neuron_devices;
  }
  return view;
}

void Machine::heartbeat() {
  later(pace_.agent.heartbeat, [this] {
    flush(true);
    heartbeat();
  });
}

// ---- Slurm ---------------------------------------------------------------------------------------------------------

void Machine::look(bool wide) {
  if (!runs_slurmctld() || !slurm_.up()) return;
  if (seen_ == slurm_.version()) return;
  if (wide) seen_ = slurm_.version();
  news_ = true;
  if (wide) {
    outbox_->set_nodes(slurm_.view(), true);
  } else {
    std::vector<agent::NodeView> views;
    for (const auto& name : slurm::expand(closely_).value_or(std::vector<std::string>{}))
      if (slurm_.nodes().contains(name)) views.push_back(slurm_.view(name));
    outbox_->set_nodes(views, false);
  }
  flush(false);
}

void Machine::look_widely() {
  look(true);
  later(agent::kWideLook, [this] { look_widely(); });
}

void Machine::look_closely() {
  if (closely_.empty()) return;
  look(false);
  later(agent::kCloseLook, [this] { look_closely(); });
}

// As slurmd does: until slurmctld answers and knows the node.
void Machine::try_to_register() {
  if (!alive_ || !slurmd_ || slurmd_is_broken_) return;
  registered_ = slurm_.registers(node(), address_);
  if (registered_) return nature_.log("{} of {} registers with slurmctld", id_.value, node());
  nature_.time.after(pace_.register_every, [self = weak_from_this()] {
    if (const auto machine = self.lock()) machine->try_to_register();
  });
}

}  // namespace espalier::sim
