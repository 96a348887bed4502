// A machine's agent as the hub hears it: JSON in, JSON out, on the test's thread. It carries nothing out. A
// controller's slurmctld shows all nodes that its first files declare, down and without an address.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "agent/protocol.h"
#include "engine/agent_hub.h"
#include "slurm/hostlist.h"

namespace espalier::engine {

class FakeAgent {
 public:
  // The answer of one call; empty while it is open.
  using Answer = std::shared_ptr<std::optional<http::Response>>;

  FakeAgent(AgentHub& hub, std::string machine) : hub_(&hub), machine_(std::move(machine)) {}

  Answer post(const std::string& path, const std::string& body) {
    http::Request request{"POST", path, {}, body, "10.77.0.2", certificate};
    if (!credential.empty()) request.headers.emplace("Authorization", "Bearer " + credential);
    return call(std::move(request));
  }
  Answer call(http::Request request) {
    auto answer = std::make_shared<std::optional<http::Response>>();
    hub_->handle(std::move(request), [answer](http::Response response) {
      EXPECT_FALSE(*answer) << "answered twice";
      *answer = std::move(response);
    });
    return answer;
  }

  Answer enrol(const std::string& token) {
    return post("/enrol", json::serialize(to_json(agent::Enrol{machine_, token, "test", ""})));
  }
  Answer next() {
    return post("/next", json::serialize(to_json(agent::NextCall{boot, control_plane_boot, acknowledged})));
  }
  Answer report(const agent::Report& report) { return post("/report", json::serialize(to_json(report))); }
  Answer done(const agent::Command& command, bool ok = true, const std::string& error = "") {
    agent::Report all;
    all.boot = boot;
    all.results = {{command.id, ok, error, {}}};
    if (command.setup) note_nodes(command.setup->files);
    for (const auto& step : command.slurm.value_or(std::vector<agent::SlurmStep>{}))
      all.results[0].steps.push_back({ok, step.kind == agent::SlurmStepKind::ReadNodes ? nodes_ : ""});
    return report(all);
  }

  // What a poll brought: acknowledged with the next one.
  std::vector<agent::Command> take(const Answer& answer) {
    if (!*answer || (*answer)->status != 200) {
      ADD_FAILURE() << (*answer ? (*answer)->body : "the call is open");
      return {};
    }
    auto body = from_json<agent::NextAnswer>(parse_json((*answer)->body).value());
    if (!body) {
      ADD_FAILURE() << body.error().message;
      return {};
    }
    control_plane_boot = body->control_plane_boot;
    if (!body->commands.empty()) acknowledged = body->commands.back().sequence;
    return std::move(body->commands);
  }

  // As after a restart of the agent.
  void boots_anew() {
    boot += "'";
    control_plane_boot.clear();
    acknowledged = 0;
  }

  std::string credential;
  std::string certificate;  // fingerprint of the one that it shows
  std::string boot = "agent-boot";
  std::string control_plane_boot;
  std::int64_t acknowledged = 0;

 private:
  void note_nodes(const std::vector<agent::ConfigFile>& files) {
    static const std::regex declared("NodeName=(\\S+)");
    for (const auto& file : files)
      for (auto it = std::sregex_iterator(file.text.begin(), file.text.end(), declared); it != std::sregex_iterator();
           ++it)
        for (const auto& node : slurm::expand(it->str(1)).value_or(std::vector<std::string>{}))
          nodes_ += node + "|down|0.0.0.0|espalier:waiting\n";
  }

  AgentHub* hub_;
  std::string machine_;
  std::string nodes_;  // as scontrol lists them
};

inline int status_of(const FakeAgent::Answer& answer) { return *answer ? (*answer)->status : 0; }
inline std::string body_of(const FakeAgent::Answer& answer) { return *answer ? (*answer)->body : ""; }

}  // namespace espalier::engine
