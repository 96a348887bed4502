#include "network.h"

#include <utility>
#include <vector>

namespace espalier::sim {

Millis Network::delay() {
  if (nature_.strikes(Fault::SlowNetwork)) return nature_.time.between(slowest, Millis(8'000));
  return nature_.time.between(quickest, slowest);
}

void Network::call(Door door, http::Request request, Millis timeout, Answer answer) {
  const auto id = ++last_;
  open_[id].answer = std::move(answer);
  nature_.time.after(timeout, [this, id] { finish(id, std::nullopt); });
  if (nature_.strikes(Fault::RequestLost)) return;
  const Millis takes = delay();
  // The same connection carries both: none overtakes what is sent after its answer.
  if (door == Door::kAgents && nature_.strikes(Fault::RequestTwice))
    nature_.time.after(takes, [this, id, door, request] { arrive(id, door, request); });
  nature_.time.after(
      takes, [this, id, door, request = std::move(request)]() mutable { arrive(id, door, std::move(request)); });
}

void Network::arrive(std::uint64_t id, Door door, http::Request request) {
  const auto found = open_.find(id);
  if (found != open_.end()) found->second.arrived = true;
  const bool heard = listener(door, std::move(request), [this, id](http::Response response) {
    if (nature_.strikes(Fault::AnswerLost)) return;
    nature_.time.after(delay(), [this, id, response = std::move(response)] { finish(id, response); });
  });
  if (!heard) finish(id, std::nullopt);
}

void Network::finish(std::uint64_t id, std::optional<http::Response> response) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  const Answer answer = std::move(found->second.answer);
  open_.erase(found);
  answer(std::move(response));
}

void Network::cut() {
  std::vector<std::uint64_t> broken;
  for (const auto& [id, open] : open_)
    if (open.arrived) broken.push_back(id);
  for (const auto id : broken) nature_.time.after(Millis(1), [this, id] { finish(id, std::nullopt); });
}

}  // namespace espalier::sim
