#include "engine/agent_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fake_agent_test.h"

namespace espalier::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const MachineId kMachine("i-1");

// Knows one credential, remembers what it hears.
class Listener final : public AgentListener {
 public:
  void agent_enrols(const agent::Enrol& enrol, const std::string&, EnrolReply reply) override {
    enrolled.push_back(enrol);
    reply(answer);
  }
  void agent_renews(const MachineId& machine, const std::string& certificate, EnrolReply reply) override {
    renewed.emplace_back(machine, certificate);
    reply(answer);
  }
  std::optional<MachineId> authenticate(const std::string& credential, const std::string& certificate) override {
    return credential == "good" && certificate == expected_certificate ? std::optional(kMachine) : std::nullopt;
  }
  std::shared_ptr<const std::string> hosts(const MachineId&) override { return list; }
  void agent_here(const MachineId& machine) override { here.push_back(machine); }
  void agent_reports(const MachineId&, agent::Report report) override { reports.push_back(std::move(report)); }
  void agent_health(const MachineId&, agent::Health health) override { healths.push_back(std::move(health)); }
  void agent_silent(const MachineId& machine, Time since) override { silent.emplace_back(machine, since); }
  void agent_back(const MachineId& machine) override { back.push_back(machine); }

  Result<std::string> answer = std::string("good");
  std::string expected_certificate;
  std::vector<agent::Enrol> enrolled;
  std::vector<std::pair<MachineId, std::string>> renewed;
  std::shared_ptr<const std::string> list;
  std::vector<MachineId> here;
  std::vector<agent::Report> reports;
  std::vector<agent::Health> healths;
  std::vector<std::pair<MachineId, Time>> silent;
  std::vector<MachineId> back;
};

class AgentHubTest : public testing::Test {
 protected:
  AgentHubTest() {
    hub_.set_listener(&listener_);
    agent_.credential = "good";
  }
  void send(const std::string& id) {
    agent::Command command;
    command.id = id;
    command.watch = "p5-1";
    hub_.send(kMachine, std::move(command));
  }
  std::vector<std::string> ids(const FakeAgent::Answer& answer) {
    std::vector<std::string> all;
    for (const auto& command : agent_.take(answer)) all.push_back(command.id);
    return all;
  }
  // The first call of an agent, which is answered at once.
  void says_hello() { EXPECT_THAT(ids(agent_.next()), IsEmpty()); }

  ManualClock clock_{Time(Millis(1'800'000'000'000))};
  ManualTimers timers_;
  Listener listener_;
  AgentHub hub_{"boot-1", clock_, timers_};
  FakeAgent agent_{hub_, "i-1"};
};

TEST_F(AgentHubTest, EnrolmentIsTheListenersToDecide) {
  agent_.credential.clear();
  EXPECT_THAT(body_of(agent_.enrol("token")), HasSubstr(R"("credential":"good")"));
  ASSERT_THAT(listener_.enrolled, SizeIs(1));
  EXPECT_EQ(listener_.enrolled[0].machine_id, "i-1");
  EXPECT_EQ(listener_.enrolled[0].token, "token");

  listener_.answer = fail(ErrorCode::kPermission, "not yours");
  EXPECT_EQ(status_of(agent_.enrol("token")), 403);
  EXPECT_THAT(body_of(agent_.enrol("token")), HasSubstr("not yours"));
  listener_.answer = fail(ErrorCode::kUnavailable, "too early");
  EXPECT_EQ(status_of(agent_.enrol("token")), 503);
}

TEST_F(AgentHubTest, ACredentialIsRenewedForACertificateAndNothingElse) {
  const std::string fingerprint(64, 'a');
  const auto renew = [&](const std::string& certificate) {
    return agent_.post("/renew", json::serialize(to_json(agent::RenewCall{certificate})));
  };
  EXPECT_THAT(body_of(renew(fingerprint)), HasSubstr(R"("credential":"good")"));
  EXPECT_THAT(listener_.renewed, ElementsAre(std::pair(kMachine, fingerprint)));
  for (const std::string& wrong : {std::string("x"), std::string(64, 'A'), std::string(65, 'a')})
    EXPECT_EQ(status_of(renew(wrong)), 400) << wrong;
  agent_.credential = "bad";
  EXPECT_EQ(status_of(renew(fingerprint)), 401);
  EXPECT_THAT(listener_.renewed, SizeIs(1));
}

TEST_F(AgentHubTest, WhatIsNoCallIsRefused) {
  EXPECT_EQ(status_of(agent_.call({"GET", "/next", {}, "", ""})), 405);
  EXPECT_EQ(status_of(agent_.post("/elsewhere", "{}")), 404);
  EXPECT_EQ(status_of(agent_.post("/next", "{")), 400);
  EXPECT_EQ(status_of(agent_.post("/report", R"({"results": 7})")), 400);
  EXPECT_EQ(status_of(agent_.post("/enrol", "[]")), 400);
  EXPECT_THAT(listener_.here, IsEmpty());
  EXPECT_THAT(listener_.reports, IsEmpty());
}

TEST_F(AgentHubTest, WithoutAValidCredentialNothingIsHeard) {
  for (const std::string credential : {"", "bad"}) {
    agent_.credential = credential;
    EXPECT_EQ(status_of(agent_.next()), 401);
    EXPECT_EQ(status_of(agent_.report({})), 401);
  }
  EXPECT_THAT(listener_.here, IsEmpty());
  EXPECT_THAT(listener_.reports, IsEmpty());
}

TEST_F(AgentHubTest, FirstCallIsAnsweredAtOnceWithOurBoot) {
  says_hello();
  EXPECT_EQ(agent_.control_plane_boot, "boot-1");
  EXPECT_THAT(listener_.here, ElementsAre(kMachine));
}

TEST_F(AgentHubTest, PollWaitsForACommand) {
  says_hello();
  const auto poll = agent_.next();
  EXPECT_FALSE(*poll);
  send("a");
  EXPECT_THAT(ids(poll), ElementsAre("a"));
  EXPECT_EQ(timers_.next(), std::nullopt) << "its time-out is still scheduled";
  EXPECT_THAT(listener_.here, SizeIs(1));
}

TEST_F(AgentHubTest, PollWithoutACommandTimesOut) {
  says_hello();
  const auto poll = agent_.next();
  clock_.advance(agent::kLongPoll - Millis(1));
  timers_.run_due(clock_.now());
  EXPECT_FALSE(*poll);
  clock_.advance(Millis(1));
  timers_.run_due(clock_.now());
  EXPECT_THAT(ids(poll), IsEmpty());
}

TEST_F(AgentHubTest, CommandsComeInOrderUntilAcknowledged) {
  says_hello();
  send("a");
  send("b");
  EXPECT_THAT(ids(agent_.next()), ElementsAre("a", "b"));
  const auto acknowledged = std::exchange(agent_.acknowledged, 1);  // as when "b" was not taken
  EXPECT_THAT(ids(agent_.next()), ElementsAre("b"));
  EXPECT_EQ(agent_.acknowledged, acknowledged);
  EXPECT_FALSE(*agent_.next());
}

TEST_F(AgentHubTest, NewPollEndsTheOldOne) {
  says_hello();
  const auto given_up = agent_.next();
  const auto poll = agent_.next();
  EXPECT_EQ(status_of(given_up), 200);
  send("a");
  EXPECT_THAT(ids(poll), ElementsAre("a"));
}

TEST_F(AgentHubTest, AgentThatBootedAnewIsHereAgainAndGetsNothingOld) {
  says_hello();
  send("a");
  agent_.boots_anew();
  says_hello();
  EXPECT_THAT(listener_.here, SizeIs(2));
  EXPECT_FALSE(*agent_.next());
}

TEST_F(AgentHubTest, AgentOfAnotherControlPlaneIsHereAgain) {
  says_hello();
  agent_.control_plane_boot = "boot-0";
  agent_.acknowledged = 99;
  says_hello();
  EXPECT_THAT(listener_.here, SizeIs(2));
  send("a");
  agent_.acknowledged = 0;
  EXPECT_THAT(ids(agent_.next()), ElementsAre("a"));
}

TEST_F(AgentHubTest, AgentThatTakesNoCommandsStartsFromTheBeginning) {
  says_hello();
  for (int i = 0; i < 256; ++i) send(std::to_string(i));
  EXPECT_THAT(ids(agent_.next()), SizeIs(256));
  agent_.acknowledged = 0;
  send("one too many");
  EXPECT_THAT(listener_.here, SizeIs(1));
  EXPECT_THAT(ids(agent_.next()), IsEmpty());
  EXPECT_THAT(listener_.here, SizeIs(2));
  send("anew");
  EXPECT_THAT(ids(agent_.next()), ElementsAre("anew"));
}

TEST_F(AgentHubTest, ForgottenMachineIsAnsweredAndHasNoCommands) {
  says_hello();
  send("a");
  agent_.take(agent_.next());
  const auto poll = agent_.next();
  hub_.forget(kMachine);
  EXPECT_THAT(ids(poll), IsEmpty());
  EXPECT_EQ(timers_.next(), std::nullopt);
  hub_.forget(kMachine);  // twice is once
}

TEST_F(AgentHubTest, ReportsAreHandedOn) {
  agent::Report report;
  report.nodes = {{"p5-1", "idle", "10.77.0.2", ""}};
  EXPECT_EQ(status_of(agent_.report(report)), 200);
  ASSERT_THAT(listener_.reports, SizeIs(1));
  EXPECT_EQ(listener_.reports[0].nodes, report.nodes);
  EXPECT_THAT(listener_.healths, IsEmpty()) << "it said nothing of itself";
}

TEST_F(AgentHubTest, WhatAReportSaysHasAnEnd) {
  std::string endless;
  while (endless.size() < 100'000) endless += "ä";
  agent::Report report;
  report.nodes = {{endless, endless, endless, endless}};
  report.results = {{"1", false, endless, {}}};
  report.daemons = std::vector<agent::DaemonView>(1000, {endless, false, endless});
  report.health.emplace();
  report.health->machine_id = endless;
  report.health->disks.resize(1000, {endless, 1, 2});
  EXPECT_EQ(status_of(agent_.report(report)), 200);
  ASSERT_THAT(listener_.reports, SizeIs(1));
  const std::string kept = json::serialize(to_json(listener_.reports[0]));
  EXPECT_LT(kept.size(), 300'000u);
  EXPECT_TRUE(parse_json(kept)) << "it is still text";
}

agent::Report healthy(Time sent_at) {
  agent::Report report;
  report.daemons = {{"slurmd", true, ""}};
  report.health.emplace();
  report.health->machine_id = "i-1";
  report.health->gpus = 8;
  report.health->disks = {{"/", 50, 100}};
  report.sent_at = sent_at;
  return report;
}

TEST_F(AgentHubTest, HealthIsToldWhenItChanges) {
  EXPECT_FALSE(hub_.health(kMachine));
  auto report = healthy(clock_.now());
  agent_.report(report);
  ASSERT_THAT(listener_.healths, SizeIs(1));
  EXPECT_EQ(listener_.healths[0].view.gpus, 8);
  report.health->disks[0].free_bytes = 40;
  agent_.report(report);
  EXPECT_THAT(listener_.healths, SizeIs(1)) << "a heartbeat is no news";
  EXPECT_EQ(hub_.health(kMachine)->view.disks[0].free_bytes, 40);
  report.health->disks[0].free_bytes = 1;
  agent_.report(report);
  report.health->gpus = 7;
  agent_.report(report);
  report.daemons[0].running = false;
  agent_.report(report);
  report.health->machine_id = "i-2";
  agent_.report(report);
  EXPECT_THAT(listener_.healths, SizeIs(5));
  agent_.report({});
  EXPECT_THAT(listener_.healths, SizeIs(5)) << "what a report leaves out is as it was";
  hub_.forget(kMachine);
  EXPECT_FALSE(hub_.health(kMachine));
}

TEST_F(AgentHubTest, SlowlyDriftingClockIsNoticed) {
  agent_.report(healthy(clock_.now() + Millis(500)));
  EXPECT_EQ(listener_.healths.at(0).clock_ahead, Millis(0));
  for (int seconds = 1; seconds <= 10; ++seconds) agent_.report(healthy(clock_.now() - std::chrono::seconds(seconds)));
  ASSERT_THAT(listener_.healths, SizeIs(3));
  EXPECT_EQ(listener_.healths[1].clock_ahead, Millis(-5000));
  EXPECT_EQ(listener_.healths[2].clock_ahead, Millis(-10'000));
}

TEST_F(AgentHubTest, ScriptsAreFetchedByTheirDigest) {
  const auto fetch = [&](const std::string& digest) {
    return agent_.post("/fetch", json::serialize(to_json(agent::FetchCall{digest})));
  };
  EXPECT_EQ(status_of(fetch("d0")), 404);
  for (int i = 0; i < 33; ++i) hub_.offer({"s3://b/p", fmt::format("d{}", i), {{"a.sh", "AAAA", true}}});
  EXPECT_EQ(status_of(fetch("d0")), 404) << "the oldest went";
  const auto answer = from_json<agent::FetchAnswer>(*parse_json(body_of(fetch("d32"))));
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->files, ElementsAre(ScriptFile{"a.sh", "AAAA", true}));
  hub_.offer({"s3://b/p", "d1", {}});
  hub_.offer({"s3://b/p", "d33", {}});
  EXPECT_EQ(status_of(fetch("d1")), 200) << "offered again it is new";
  agent_.credential = "bad";
  EXPECT_EQ(status_of(fetch("d1")), 401);
}

TEST_F(AgentHubTest, HostsAreFetchedAsTheyAreNow) {
  EXPECT_EQ(status_of(agent_.post("/hosts", "{}")), 404) << "not known yet";
  listener_.list = std::make_shared<const std::string>(R"({"hosts":[]})");
  EXPECT_EQ(body_of(agent_.post("/hosts", "{}")), R"({"hosts":[]})");
  agent_.credential = "bad";
  EXPECT_EQ(status_of(agent_.post("/hosts", "{}")), 401);
}

class SilenceTest : public AgentHubTest {
 protected:
  SilenceTest() { hub_.listen_for_silence(); }
  void pass(Millis length) {
    const Time end = clock_.now() + length;
    for (auto next = timers_.next(); next && *next <= end; next = timers_.next()) {
      clock_.advance(std::max(Millis(0), *next - clock_.now()));
      timers_.run_due(clock_.now());
    }
    clock_.advance(end - clock_.now());
  }
  static constexpr Millis kLimit = AgentHub::kSilentAfter;
};

TEST_F(SilenceTest, SilentMachineIsToldOnceAndWhenItIsBack) {
  says_hello();
  const Time since = clock_.now();
  pass(kLimit);
  EXPECT_THAT(listener_.silent, IsEmpty());
  pass(3 * kLimit);
  EXPECT_THAT(listener_.silent, ElementsAre(std::pair(kMachine, since)));
  EXPECT_THAT(listener_.back, IsEmpty());
  agent_.report({});
  EXPECT_THAT(listener_.back, ElementsAre(kMachine));
  pass(2 * kLimit);
  EXPECT_THAT(listener_.silent, SizeIs(2));
  agent_.next();
  EXPECT_THAT(listener_.back, SizeIs(2));
}

TEST_F(SilenceTest, MachineThatReportsIsNotSilent) {
  for (int i = 0; i < 20; ++i) {
    pass(agent::kHeartbeat);
    agent_.report({});
  }
  EXPECT_THAT(listener_.silent, IsEmpty());
}

TEST_F(SilenceTest, MachineThatIsExpectedAndNeverCallsIsSilent) {
  hub_.expect(kMachine);
  pass(2 * kLimit);
  EXPECT_THAT(listener_.silent, SizeIs(1));
  hub_.forget(kMachine);
  pass(2 * kLimit);
  EXPECT_THAT(listener_.silent, SizeIs(1));
}

TEST_F(SilenceTest, ControlPlaneThatWasStoppedBlamesNobody) {
  says_hello();
  pass(agent::kHeartbeat);
  clock_.advance(std::chrono::hours(5));  // nothing ran meanwhile
  pass(kLimit / 2);
  EXPECT_THAT(listener_.silent, IsEmpty());
  pass(kLimit);
  EXPECT_THAT(listener_.silent, SizeIs(1));
}

TEST_F(AgentHubTest, OverTlsAMachineShowsItsCertificate) {
  listener_.expected_certificate = "its own";
  hub_.require_certificates();
  const auto status = [&](const std::string& target, const std::string& certificate) {
    http::Request request{"POST", target, {{"Authorization", "Bearer good"}}, "{}", "10.0.0.1", certificate};
    int got = 0;
    hub_.handle(request, [&](const http::Response& response) { got = response.status; });
    return got;
  };
  EXPECT_EQ(status("/report", "its own"), 200);
  EXPECT_EQ(status("/report", "another's"), 401);
  EXPECT_EQ(status("/report", ""), 401);
  EXPECT_EQ(status("/enrol", ""), 401);
  EXPECT_THAT(listener_.enrolled, IsEmpty());
}

}  // namespace
}  // namespace espalier::engine
