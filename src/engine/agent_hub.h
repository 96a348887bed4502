// The machines' agents as the engine sees them: commands go out by long poll, reports come in.
//
// A session per machine holds the commands that its agent has not acknowledged. Nothing here is stored: after a restart
// the agents call again, and reconcile decides anew what they are to be told.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/health.h"
#include "agent/protocol.h"
#include "base/clock.h"
#include "base/timers.h"
#include "http/server.h"
#include "model/cluster.h"

namespace espalier::engine {

// Who hears what agents say. Called on I/O threads: must not block.
class AgentListener {
 public:
  virtual ~AgentListener() = default;
  using EnrolReply = std::function<void(Result<std::string> credential)>;
  // `certificate`: fingerprint of the one that the machine shows; the credential is good with it only. "" without TLS.
  virtual void agent_enrols(const agent::Enrol& enrol, const std::string& certificate, EnrolReply reply) = 0;
  // The machine's next credential, for that certificate.
  virtual void agent_renews(const MachineId& machine, const std::string& certificate, EnrolReply reply) = 0;
  // The machine that a credential speaks for.
  virtual std::optional<MachineId> authenticate(const std::string& credential, const std::string& certificate) = 0;
  // A HostsAnswer in JSON, for a machine that authenticated; null: there is none yet.
  virtual std::shared_ptr<const std::string> hosts(const MachineId& machine) = 0;
  virtual void agent_here(const MachineId& machine) = 0;
  virtual void agent_reports(const MachineId& machine, agent::Report report) = 0;
  // What the machine says of itself is not what it said before.
  virtual void agent_health(const MachineId& /*machine*/, agent::Health /*health*/) {}
  // Nothing was heard of the machine since then, for longer than kSilentAfter although we listened; and again.
  virtual void agent_silent(const MachineId& /*machine*/, Time /*since*/) {}
  virtual void agent_back(const MachineId& /*machine*/) {}
};

// How often agents call. Another one than the protocol's is for simulations of days, in which quiet has to be cheap.
struct AgentPace {
  Millis long_poll{agent::kLongPoll};
  Millis heartbeat{agent::kHeartbeat};
};

class AgentHub {
 public:
  // `boot` names this run of the control plane.
  AgentHub(std::string boot, Clock& clock, Timers& timers, AgentPace pace = {})
      : boot_(std::move(boot)), pace_(pace), clock_(clock), timers_(timers) {}

  void set_listener(AgentListener* listener) { listener_ = listener; }
  // Takes no request without the machine's certificate: for a listener with TLS. Before the first request.
  void require_certificates() { certificates_required_ = true; }
  // The handler of the agents' HTTP listener.
  void handle(http::Request request, http::Reply reply);
  // Queues a command. When more than kMostQueued wait all are dropped, and the listener hears agent_here at the
  // machine's next call: what is lost in the middle of changes can only be mended from the beginning.
  void send(const MachineId& machine, agent::Command command);
  void forget(const MachineId& machine);
  // Machines may fetch these scripts by their digest. The newest kMostBundles are kept: a machine that asks for an
  // older one fails its setup, and is told the new digest.
  void offer(const ScriptBundle& bundle);
  // The machine's agent is to be heard from now on: without a call it is silent kSilentAfter from now.
  void expect(const MachineId& machine);
  // Looks for silent machines from now on, once a heartbeat.
  void listen_for_silence();
  // What the machine last said of itself; nothing before its first report of it.
  std::optional<agent::Health> health(const MachineId& machine);

  static constexpr std::chrono::seconds kSilentAfter = 4 * agent::kHeartbeat;

 private:
  static constexpr std::size_t kMostQueued = 256;
  static constexpr std::size_t kMostBundles = 32;

  struct Session {
    std::string agent_boot;
    std::int64_t last_sequence = 0;
    std::deque<agent::Command> queue;
    http::Reply parked;  // the long poll that waits
    Timers::Id timeout = 0;
    std::optional<agent::Health> health;
    std::optional<agent::Health> told;  // to the listener: small changes add up to news
    Time heard{};                       // the last call
    bool silent = false;
  };

  void enrol(const http::Request& request, const http::Reply& reply);
  void next(const MachineId& machine, const http::Request& request, http::Reply reply);
  void renew(const MachineId& machine, const http::Request& request, const http::Reply& reply);
  void fetch(const http::Request& request, const http::Reply& reply);
  void hosts(const MachineId& machine, const http::Reply& reply);
  void report(const MachineId& machine, const http::Request& request, const http::Reply& reply);
  // The machine calls. True: it was silent.
  bool hear(Session& session);
  void look_for_silence();
  // Takes the parked reply and its answer out of a session; called under the lock, answered outside.
  std::function<void()> unpark(Session& session);

  // Logs one a second; strangers can cause them as they like.
  void refuse(const http::Request& request, const http::Reply& reply, int status, const std::string& why);

  const std::string boot_;
  const AgentPace pace_;
  bool certificates_required_ = false;
  Time last_refusal_{};
  int unlogged_refusals_ = 0;
  Clock& clock_;
  Timers& timers_;
  AgentListener* listener_ = nullptr;
  std::mutex mutex_;
  std::map<MachineId, Session> sessions_;
  std::deque<std::pair<std::string, std::shared_ptr<const std::string>>> bundles_;  // digest, answer; newest last
  Time looked_{};
};

}  // namespace espalier::engine
