#include "engine/questions.h"

#include <utility>

namespace espalier::engine {

Questions::~Questions() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, waiting] : waiting_) timers_.cancel(waiting.timeout);
}

void Questions::ask(const MachineId& controller, agent::SlurmStep step, Reply reply) {
  agent::Command command;
  command.slurm = std::vector<agent::SlurmStep>{std::move(step)};
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < kMost) {
      command.id = random_.uuid();
      const auto timeout = timers_.schedule(clock_.now() + kPatience, [this, id = command.id] {
        end(id, fail(ErrorCode::kUnavailable, "the controller has not answered within {} s: ask again",
                     kPatience.count() / 1000));
      });
      waiting_[command.id] = {std::move(reply), timeout};
    }
  }
  if (command.id.empty()) return reply(fail(ErrorCode::kUnavailable, "too many questions wait: ask again"));
  agents_.send(controller, std::move(command));
}

bool Questions::answered(const agent::CommandResult& result) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.contains(result.id)) return false;
  }
  if (!result.steps.empty() && result.steps.front().ok)
    end(result.id, result.steps.front().output);
  else
    end(result.id, fail(ErrorCode::kNotFound, "{}", result.steps.empty() ? result.error : result.steps.front().output));
  return true;
}

void Questions::end(const std::string& id, Result<std::string> answer) {
  Waiting waiting;
  {
    const std::lock_guard lock(mutex_);
    auto found = waiting_.extract(id);
    if (found.empty()) return;
    waiting = std::move(found.mapped());
  }
  timers_.cancel(waiting.timeout);
  waiting.reply(std::move(answer));
}

}  // namespace espalier::engine
