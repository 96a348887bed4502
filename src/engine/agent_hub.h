// The machines' agents as the engine sees them: commands go out by long poll, reports come in.
//
// A session per machine holds the commands that its agent has not acknowledged. Nothing here is stored: after a restart
// the agents call again, and reconcile decides anew what they are to be told.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

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
  virtual void agent_enrols(const agent::Enrol& enrol, EnrolReply reply) = 0;
  // The machine that a credential speaks for.
  virtual std::optional<MachineId> authenticate(const std::string& credential) = 0;
  virtual void agent_here(const MachineId& machine) = 0;
  virtual void agent_reports(const MachineId& machine, agent::Report report) = 0;
};

class AgentHub {
 public:
  // `boot` names this run of the control plane.
  AgentHub(std::string boot, Clock& clock, Timers& timers) : boot_(std::move(boot)), clock_(clock), timers_(timers) {}

  void set_listener(AgentListener* listener) { listener_ = listener; }
  // The handler of the agents' HTTP listener.
  void handle(http::Request request, http::Reply reply);
  // Queues a command; at most kMostQueued wait, the oldest is dropped then (reconcile sends what matters again).
  void send(const MachineId& machine, agent::Command command);
  void forget(const MachineId& machine);
  // What the machine's daemons last were said to be.
  std::vector<agent::DaemonView> daemons(const MachineId& machine);

 private:
  static constexpr std::size_t kMostQueued = 256;

  struct Session {
    std::string agent_boot;
    std::int64_t last_sequence = 0;
    std::deque<agent::Command> queue;
    http::Reply parked;  // the long poll that waits
    Timers::Id timeout = 0;
    std::vector<agent::DaemonView> daemons;
  };

  void enrol(const http::Request& request, const http::Reply& reply);
  void next(const MachineId& machine, const http::Request& request, http::Reply reply);
  void report(const MachineId& machine, const http::Request& request, const http::Reply& reply);
  // Takes the parked reply and its answer out of a session; called under the lock, answered outside.
  std::function<void()> unpark(Session& session);

  const std::string boot_;
  Clock& clock_;
  Timers& timers_;
  AgentListener* listener_ = nullptr;
  std::mutex mutex_;
  std::map<MachineId, Session> sessions_;
};

}  // namespace espalier::engine
