#include "engine/agent_hub.h"

#include <algorithm>

#include "base/clip.h"
#include "base/log.h"

namespace espalier::engine {

namespace {

template <typename T>
http::Response answer(int status, const T& body) {
  return {status, {{"Content-Type", "application/json"}}, json::serialize(to_json(body))};
}

http::Response refusal(int status, const std::string& why) {
  return answer(status, json::value(json::object{{"Message", why}}));
}

// A text that was encoded before, for whoever asks.
http::Response encoded(const std::shared_ptr<const std::string>& text, const char* otherwise) {
  if (!text) return refusal(404, otherwise);
  return {200, {{"Content-Type", "application/json"}}, *text};
}

int status_of(ErrorCode code) {
  if (code == ErrorCode::kPermission) return 403;
  return code == ErrorCode::kInvalid ? 400 : 503;
}

// Parses the body, or answers with what is wrong with it.
template <typename T>
std::optional<T> read_body(const http::Request& request, const http::Reply& reply) {
  auto parsed = parse_json(request.body);
  auto read = parsed ? from_json<T>(*parsed) : tl::unexpected(parsed.error());
  if (read) return std::move(*read);
  reply(refusal(400, read.error().message));
  return std::nullopt;
}

// A machine may be in anybody's hands: what is kept of its words has an end.
void bound(agent::Report& report) {
  constexpr std::size_t kName = 256, kText = 1024, kLog = 16 << 10, kMany = 64;
  for (auto& node : report.nodes) {
    for (auto* text : {&node.name, &node.state, &node.address}) clip(*text, kName);
    clip(node.reason, kText);
  }
  for (auto& result : report.results) clip(result.error, kLog);
  report.daemons.resize(std::min(report.daemons.size(), kMany));
  for (auto& daemon : report.daemons) {
    clip(daemon.name, kName);
    clip(daemon.message, kText);
  }
  if (!report.health) return;
  auto& disks = report.health->disks;
  disks.resize(std::min(disks.size(), kMany));
  for (auto& disk : disks) clip(disk.path, kText);
  clip(report.health->machine_id, kName);
}

bool says_health(const agent::Report& report) { return report.health || !report.daemons.empty(); }

// What the report adds to what is known. An agent that is older than HealthView tells neither devices nor time.
agent::Health with(agent::Health known, const agent::Report& report, Time now) {
  if (report.health) known.view = *report.health;
  if (!report.daemons.empty()) known.daemons = report.daemons;
  if (report.sent_at != Time()) known.clock_ahead = report.sent_at - now;
  if (std::chrono::abs(known.clock_ahead) < std::chrono::seconds(1)) known.clock_ahead = Millis(0);
  return known;
}

}  // namespace

void AgentHub::handle(http::Request request, http::Reply reply) {
  if (request.method != "POST") return reply(refusal(405, "POST only"));
  if (certificates_required_ && request.peer_certificate.empty())
    return refuse(request, reply, 401, "a machine shows its certificate");
  if (request.target == "/enrol") return enrol(request, reply);
  const std::string bearer = http::header(request.headers, "Authorization");
  const auto machine = bearer.starts_with("Bearer ")
                           ? listener_->authenticate(bearer.substr(7), request.peer_certificate)
                           : std::nullopt;
  if (!machine) return refuse(request, reply, 401, "this credential is not valid here: enrol first");
  if (request.target == "/next") return next(*machine, request, std::move(reply));
  if (request.target == "/report") return report(*machine, request, reply);
  if (request.target == "/renew") return renew(*machine, request, reply);
  if (request.target == "/fetch") return fetch(request, reply);
  if (request.target == "/hosts") return hosts(*machine, reply);
  reply(refusal(404, "no such path"));
}

void AgentHub::enrol(const http::Request& request, const http::Reply& reply) {
  const auto call = read_body<agent::Enrol>(request, reply);
  if (!call) return;
  listener_->agent_enrols(*call, request.peer_certificate,
                          [this, request, reply](const Result<std::string>& credential) {
                            if (credential) return reply(answer(200, agent::Enrolled{*credential}));
                            refuse(request, reply, status_of(credential.error().code), credential.error().message);
                          });
}

void AgentHub::renew(const MachineId& machine, const http::Request& request, const http::Reply& reply) {
  const auto call = read_body<agent::RenewCall>(request, reply);
  if (!call) return;
  const bool fingerprint =
      call->certificate.size() == 64 && call->certificate.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!fingerprint && (certificates_required_ || !call->certificate.empty()))
    return reply(refusal(400, "certificate: this is no fingerprint"));
  listener_->agent_renews(machine, call->certificate, [reply](const Result<std::string>& credential) {
    if (credential) return reply(answer(200, agent::Enrolled{*credential}));
    reply(refusal(status_of(credential.error().code), credential.error().message));
  });
}

void AgentHub::refuse(const http::Request& request, const http::Reply& reply, int status, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (const Time now = clock_.now(); now - last_refusal_ < std::chrono::seconds(1)) {
      ++unlogged_refusals_;
    } else {
      log::warn("agents: {} from {} was refused ({}), and {} more before: {}", request.target.substr(0, 20),
                request.peer, status, std::exchange(unlogged_refusals_, 0), why);
      last_refusal_ = now;
    }
  }
  reply(refusal(status, why));
}

std::function<void()> AgentHub::unpark(Session& session) {
  if (!session.parked) return [] {};
  timers_.cancel(session.timeout);
  agent::NextAnswer body{boot_, {session.queue.begin(), session.queue.end()}};
  return [reply = std::exchange(session.parked, nullptr), body = std::move(body)] { reply(answer(200, body)); };
}

void AgentHub::next(const MachineId& machine, const http::Request& request, http::Reply reply) {
  const auto call = read_body<agent::NextCall>(request, reply);
  if (!call) return;
  std::function<void()> before = [] {};
  std::function<void()> now = [] {};
  bool fresh = false;
  bool back = false;
  {
    const std::lock_guard lock(mutex_);
    Session& session = sessions_[machine];
    back = hear(session);
    before = unpark(session);  // the agent has given that call up
    fresh = session.agent_boot != call->agent_boot || call->control_plane_boot != boot_;
    if (fresh) {
      session.queue.clear();
      session.agent_boot = call->agent_boot;
    } else {
      while (!session.queue.empty() && session.queue.front().sequence <= call->acknowledged) session.queue.pop_front();
    }
    session.parked = std::move(reply);
    if (!session.queue.empty() || fresh) {
      now = unpark(session);
    } else {
      session.timeout = timers_.schedule(clock_.now() + pace_.long_poll, [this, machine] {
        std::function<void()> late = [] {};
        {
          const std::lock_guard inner(mutex_);
          if (const auto found = sessions_.find(machine); found != sessions_.end()) late = unpark(found->second);
        }
        late();
      });
    }
  }
  before();
  now();
  if (back) listener_->agent_back(machine);
  if (fresh) listener_->agent_here(machine);
}

void AgentHub::report(const MachineId& machine, const http::Request& request, const http::Reply& reply) {
  auto body = read_body<agent::Report>(request, reply);
  if (!body) return;
  bound(*body);
  bool back = false;
  std::optional<agent::Health> news;
  {
    const std::lock_guard lock(mutex_);
    Session& session = sessions_[machine];
    back = hear(session);
    if (says_health(*body)) {
      agent::Health now = with(session.health.value_or(agent::Health()), *body, clock_.now());
      if (!session.told || agent::differs(*session.told, now)) session.told = news = now;
      session.health = std::move(now);
    }
  }
  if (back) listener_->agent_back(machine);
  listener_->agent_reports(machine, std::move(*body));
  if (news) listener_->agent_health(machine, std::move(*news));
  reply(answer(200, json::value(json::object())));
}

void AgentHub::send(const MachineId& machine, agent::Command command) {
  std::function<void()> now = [] {};
  {
    const std::lock_guard lock(mutex_);
    Session& session = sessions_[machine];
    command.sequence = ++session.last_sequence;
    session.queue.push_back(std::move(command));
    if (session.queue.size() > kMostQueued) {
      log::warn("{}: its agent takes no commands, {} are dropped", machine.value, session.queue.size());
      session.queue.clear();
      session.agent_boot.clear();  // as if it had never called
    }
    now = unpark(session);
  }
  now();
}

void AgentHub::forget(const MachineId& machine) {
  std::function<void()> last = [] {};
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(machine);
    if (found == sessions_.end()) return;
    found->second.queue.clear();
    last = unpark(found->second);
    sessions_.erase(found);
  }
  last();
}

// ---- lifecycle scripts -----------------------------------------------------------------------------------------

void AgentHub::offer(const ScriptBundle& bundle) {
  const auto answer = std::make_shared<const std::string>(json::serialize(to_json(agent::FetchAnswer{bundle.files})));
  const std::lock_guard lock(mutex_);
  std::erase_if(bundles_, [&](const auto& kept) { return kept.first == bundle.digest; });
  bundles_.emplace_back(bundle.digest, answer);
  if (bundles_.size() > kMostBundles) bundles_.pop_front();
}

void AgentHub::fetch(const http::Request& request, const http::Reply& reply) {
  const auto call = read_body<agent::FetchCall>(request, reply);
  if (!call) return;
  std::shared_ptr<const std::string> found;
  {
    const std::lock_guard lock(mutex_);
    const auto kept = std::ranges::find(bundles_, call->digest, [](const auto& item) { return item.first; });
    if (kept != bundles_.end()) found = kept->second;
  }
  reply(encoded(found, "these scripts are not at hand now"));
}

void AgentHub::hosts(const MachineId& machine, const http::Reply& reply) {
  reply(encoded(listener_->hosts(machine), "the machines of this cluster are not known yet"));
}

std::optional<agent::Health> AgentHub::health(const MachineId& machine) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(machine);
  return found == sessions_.end() ? std::nullopt : found->second.health;
}

// ---- silence ---------------------------------------------------------------------------------------------------

bool AgentHub::hear(Session& session) {
  session.heard = clock_.now();
  return std::exchange(session.silent, false);
}

void AgentHub::expect(const MachineId& machine) {
  const std::lock_guard lock(mutex_);
  if (const auto [session, added] = sessions_.try_emplace(machine); added) session->second.heard = clock_.now();
}

void AgentHub::listen_for_silence() {
  {
    const std::lock_guard lock(mutex_);
    looked_ = clock_.now();
  }
  timers_.schedule(clock_.now() + pace_.heartbeat, [this] {
    look_for_silence();
    listen_for_silence();
  });
}

void AgentHub::look_for_silence() {
  std::vector<std::pair<MachineId, Time>> silent;
  {
    const std::lock_guard lock(mutex_);
    const Time now = clock_.now();
    // A control plane that was stopped itself, or whose clock was set, has not listened: that time does not count.
    const Millis missed = now - looked_ - pace_.heartbeat;
    for (auto& [machine, session] : sessions_) {
      if (std::chrono::abs(missed) > pace_.heartbeat) session.heard += missed;
      if (session.silent || now - session.heard <= kSilentAfter / agent::kHeartbeat * pace_.heartbeat) continue;
      session.silent = true;
      silent.emplace_back(machine, session.heard);
    }
  }
  for (const auto& [machine, since] : silent) listener_->agent_silent(machine, since);
}

}  // namespace espalier::engine
