// A control plane for tests: answers by operation, remembers what it was asked.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/context.h"
#include "cli/transport.h"

namespace espalier::cli {

class FakeTransport final : public Transport {
 public:
  using Answer = std::function<Result<http::Response>(const json::object& request)>;
  struct Call {
    std::string url, operation;
    http::Headers headers;
    json::object request;
  };

  // Answers to an operation, in order; the last one stays.
  void answer(const std::string& operation, Answer answer) { answers_[operation].push_back(std::move(answer)); }
  void answer(const std::string& operation, const std::string& body, int status = 200) {
    answer(operation, [body, status](const json::object&) { return http::Response{status, {}, body}; });
  }

  Result<http::Response> post(const std::string& url, const http::Headers& headers, const std::string& body,
                              Millis) override {
    const auto target = headers.find("X-Amz-Target");
    const std::string operation = target == headers.end() ? "" : target->second;
    calls.push_back({url, operation, headers, parse_json(body)->get_object()});
    auto& queue = answers_[operation];
    if (queue.empty()) return http::Response{404, {}, R"({"__type":"UnknownOperationException"})"};
    const Answer now = queue.front();
    if (queue.size() > 1) queue.pop_front();
    return now(calls.back().request);
  }

  [[nodiscard]] std::vector<json::object> requests(const std::string& operation) const {
    std::vector<json::object> out;
    for (const auto& call : calls)
      if (call.operation == operation) out.push_back(call.request);
    return out;
  }

  std::vector<Call> calls;

 private:
  std::map<std::string, std::deque<Answer>> answers_;
};

// Everything an action needs, in memory; a pause advances the clock.
struct FakeWorld {
  FakeTransport transport;
  ManualClock clock{Time(Millis(1'767'225'600'000))};  // 2026-01-01 00:00:00Z
  Service service{transport, clock, "http://control", "eu-west-1"};
  std::ostringstream out, err;
  Context context{service, clock, out, err, {}, false, [this](Millis time) { clock.advance(time); }};
};

}  // namespace espalier::cli
