// Questions of users that only a machine's agent can answer; nothing follows from them. Safe from any thread.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "base/random.h"
#include "engine/agent_hub.h"

namespace espalier::engine {

class Questions {
 public:
  using Reply = std::function<void(Result<std::string>)>;

  Questions(AgentHub& agents, Clock& clock, Timers& timers) : agents_(agents), clock_(clock), timers_(timers) {}
  ~Questions();
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  // One step on the controller, behind the orders that are under way there; its output. kUnavailable: no answer within
  // kPatience, or too many questions wait.
  void ask(const MachineId& controller, agent::SlurmStep step, Reply reply);
  // True when the result was that of a question.
  bool answered(const agent::CommandResult& result);

 private:
  static constexpr Millis kPatience{15'000};
  static constexpr std::size_t kMost = 32;  // far below what the hub queues for a machine

  struct Waiting {
    Reply reply;
    Timers::Id timeout = 0;
  };
  void end(const std::string& id, Result<std::string> answer);

  AgentHub& agents_;
  Clock& clock_;
  Timers& timers_;
  std::mutex mutex_;
  Random random_ = Random::from_system();
  std::map<std::string, Waiting> waiting_;  // by the command's id
};

}  // namespace espalier::engine
