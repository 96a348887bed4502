// Requests to whatever control plane runs when they arrive; they can be lost, delayed or come twice, and so can their
// answers.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "http/server.h"
#include "nature.h"

namespace espalier::sim {

enum class Door { kAgents, kApi };  // the control plane's two listeners

class Network {
 public:
  // Nothing: the connection broke, or no answer came in time.
  using Answer = std::function<void(std::optional<http::Response>)>;

  explicit Network(Nature& nature) : nature_(nature) {}

  void call(Door door, http::Request request, Millis timeout, Answer answer);
  // The control plane's process has ended: what it was asked breaks.
  void cut();

  // Hands a request to the control plane that runs; false when none does.
  std::function<bool(Door, http::Request, http::Reply)> listener;
  Millis quickest{0};
  Millis slowest{10};

 private:
  struct Open {
    Answer answer;
    bool arrived = false;
  };
  void arrive(std::uint64_t id, Door door, http::Request request);
  void finish(std::uint64_t id, std::optional<http::Response> response);
  Millis delay();

  Nature& nature_;
  std::map<std::uint64_t, Open> open_;
  std::uint64_t last_ = 0;
};

}  // namespace espalier::sim
