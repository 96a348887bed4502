// Real processes and connections below a root of the test's own.
#include "agent/deep_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>

#include "agent/test_server.h"
#include "base/file.h"

namespace espalier::agent {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kStress = CheckKind::InstanceStress;
constexpr auto kConnectivity = CheckKind::InstanceConnectivity;

TEST(OwnProgram, TheLastLineDecides) {
  const auto healthy = read_answer(kStress, 0, "some text\nhealthy all 8 links at 400G\n\n");
  EXPECT_EQ(healthy.verdict, CheckVerdict::Healthy);
  EXPECT_EQ(healthy.reason, "all 8 links at 400G");
  EXPECT_EQ(read_answer(kStress, 0, "drain fan 3 is loud").verdict, CheckVerdict::Drain);
  EXPECT_EQ(read_answer(kStress, 0, "healthy\nreplace ECC errors").verdict, CheckVerdict::Replace);
}

TEST(OwnProgram, WhatIsNoAnswerIsNeverHealthy) {
  for (const char* text : {"", "\n", "ok", "Healthy", "healthyish", "healthy\nbye"})
    EXPECT_EQ(read_answer(kStress, 0, text).verdict, CheckVerdict::NotChecked) << text;
  EXPECT_EQ(read_answer(kStress, 1 << 8, "healthy").verdict, CheckVerdict::NotChecked);
  EXPECT_EQ(read_answer(kStress, SIGKILL, "replace it").verdict, CheckVerdict::NotChecked);
}

TEST(OwnProgram, AReasonIsOneLineThatSlurmTakes) {
  const auto reason = read_answer(kStress, 0, "drain a\tb|c'd\"e\x01" + std::string(5000, 'x')).reason;
  EXPECT_THAT(reason, testing::StartsWith("a b c d e x"));
  EXPECT_LE(reason.size(), 200U);
}

// As dcgmi 4 writes it.
constexpr const char* kPassed = R"({
  "DCGM Diagnostic": {"test_categories": [
    {"category": "Deployment", "tests": [{"name": "software",
      "results": [{"entity_group": "GPU", "entity_group_id": 1, "entity_id": 0, "status": "Pass"}],
      "test_summary": {"status": "Pass"}}]},
    {"category": "Hardware", "tests": [
      {"name": "memory", "results": [{"entity_group": "GPU", "entity_group_id": 1, "entity_id": 0, "status": "Pass"},
        {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 1, "status": "Pass"}], "test_summary": {"status": "Pass"}},
      {"name": "pcie", "results": [{"entity_group": "GPU", "entity_group_id": 1, "entity_id": 0, "status": "Skip"}],
        "test_summary": {"status": "Skip"}}]}]},
  "entity_groups": [{"entity_group": "GPU", "entity_group_id": 1, "entities": [{"entity_id": 0, "device_id": "2330"}]}],
  "metadata": {"Driver Version Detected": "580.82.07", "version": "4.4.1"}})";

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + with.size()))
    text.replace(at, old.size(), with);
  return text;
}

TEST(Diagnosis, EveryTestThatFailsIsTheMachines) {
  EXPECT_EQ(read_diagnosis(0, kPassed).verdict, CheckVerdict::Healthy);
  EXPECT_EQ(read_diagnosis(0, kPassed).reason, "dcgmi diag: 2 results passed");
  const auto found = read_diagnosis(226 << 8, "a warning\n" + replaced(kPassed, "Skip", "FAIL"));
  EXPECT_EQ(found.verdict, CheckVerdict::Replace);
  EXPECT_EQ(found.reason, "dcgmi diag failed: pcie");
  const char* kWarning = R"(Fail", "warnings": [{"error_category": 7, "error_id": 37, "error_severity": 2,
    "warning": "PCIe replays above the limit"}], "x": ")";
  EXPECT_EQ(read_diagnosis(226 << 8, replaced(kPassed, "Skip", kWarning)).reason,
            "dcgmi diag failed: pcie: PCIe replays above the limit");
}

// dcgmi 3 has other names for GPUs, no summaries, and warnings that are texts.
TEST(Diagnosis, OlderReleasesAreRead) {
  const auto of = [](const char* result) {
    return read_diagnosis(0, fmt::format(R"({{"DCGM GPU Diagnostic": {{"test_categories": [{{"category": "Stress",
      "tests": [{{"name": "Targeted Power", "results": [{{"gpu_ids": "0,1", {}}}]}}]}}]}}}})",
                                         result));
  };
  EXPECT_EQ(of(R"("status": "PASS")").verdict, CheckVerdict::Healthy);
  EXPECT_EQ(of(R"("status": "FAIL", "warnings": ["too hot"])").verdict, CheckVerdict::Replace);
  EXPECT_EQ(of(R"("status": "FAIL", "warnings": ["too hot"])").reason, "dcgmi diag failed: Targeted Power: too hot");
}

// Another machine with the same image would have the same setting: nothing is replaced for it.
TEST(Diagnosis, ASettingIsNoFault) {
  const std::string setting = R"({"error_category": 8, "error_id": 29, "error_severity": 5,
    "warning": "Persistence mode for GPU 0 is disabled."})";
  const auto with = [&](const std::string& warnings) {
    std::string text = kPassed;
    const std::string pass = R"("entity_id": 0, "status": "Pass"}],
      "test_summary": {"status": "Pass"})";
    return text.replace(
        text.find(pass), pass.size(),
        R"("entity_id": 0, "status": "Fail", "warnings": [)" + warnings + R"(]}], "test_summary": {"status": "Fail"})");
  };
  const auto found = read_diagnosis(226 << 8, with(setting));
  EXPECT_EQ(found.verdict, CheckVerdict::NotChecked);
  EXPECT_THAT(found.reason, HasSubstr("software: Persistence mode for GPU 0"));
  EXPECT_EQ(read_diagnosis(226 << 8, with(setting + R"(, {"error_severity": 2, "warning": "ECC"})")).verdict,
            CheckVerdict::Replace);
}

TEST(Diagnosis, WithoutATestThatPassedNothingWasChecked) {
  EXPECT_EQ(read_diagnosis(0, "").verdict, CheckVerdict::NotChecked);
  EXPECT_EQ(read_diagnosis(0, "{}").verdict, CheckVerdict::NotChecked);
  EXPECT_EQ(read_diagnosis(0, R"({"name": "x", "status": "Skip"})").verdict, CheckVerdict::NotChecked);
  EXPECT_EQ(read_diagnosis(0, replaced(kPassed, "Hardware", "Deployment")).verdict, CheckVerdict::NotChecked);
  EXPECT_EQ(read_diagnosis(1 << 8, kPassed).verdict, CheckVerdict::NotChecked);
  EXPECT_EQ(read_diagnosis(0, std::string(kPassed).substr(0, 60)).verdict, CheckVerdict::NotChecked);
}

class DeepCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto* folder : {"etc/espalier", "dev", "usr/bin"}) fs::create_directories(root_ / folder);
  }
  void TearDown() override { fs::remove_all(root_); }
  void own_program(const std::string& text) {
    ASSERT_TRUE(write_file(root_ / "etc/espalier/health-check", "#!/bin/sh\n" + text, 0755));
  }
  CommandResult result(const std::string& command = "c1") {
    EXPECT_TRUE(checks_.begin(command, order_));
    return results_.get_future().get();
  }

  const fs::path root_ = fs::path(testing::TempDir()) / fmt::format("deep-check-{}", getpid());
  CheckOrder order_{"check-1", {kStress}, {}, Millis(60'000)};
  Processes processes_;  // before the server's thread, which would take its SIGCHLD
  TestServer slurmd_{[](const std::string&) { return ""; }};
  const std::uint16_t port_ = parse_base_url(slurmd_.url()).value().endpoint.port;
  std::promise<CommandResult> results_;
  DeepChecks checks_{processes_, [this](CommandResult result) { results_.set_value(std::move(result)); }, root_, port_};
};

TEST_F(DeepCheckTest, AMachineWithoutGpusIsNotChecked) {
  const auto result = this->result();
  EXPECT_EQ(result.id, "c1");
  EXPECT_TRUE(result.ok);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].verdict, CheckVerdict::NotChecked);
  EXPECT_THAT(result.findings[0].reason, HasSubstr("no GPUs"));
}

// Debian has no dcgmi and this machine no GPU: a program of that name stands for it, which says what it was asked.
TEST_F(DeepCheckTest, WithGpusDcgmiIsAskedForItsLongestDiagnosis) {
  ASSERT_TRUE(write_file(root_ / "dev/nvidia0", "", 0644));
  EXPECT_THAT(result().findings.at(0).reason, HasSubstr("1 GPUs, but no dcgmi"));
  ASSERT_TRUE(write_file(root_ / "diagnosis", kPassed, 0644));
  ASSERT_TRUE(write_file(root_ / "usr/bin/dcgmi",
                         "#!/bin/sh\necho \"$*\" >$(dirname $0)/asked\ncat $(dirname $0)/../../diagnosis\n", 0755));
  order_.check = "check-2";
  results_ = {};
  const auto found = result("c2").findings.at(0);
  EXPECT_EQ(found.verdict, CheckVerdict::Healthy);
  EXPECT_EQ(read_file(root_ / "usr/bin/asked").value_or(""), "diag -r 4 -j\n");
}

TEST_F(DeepCheckTest, TheMachinesOwnProgramMakesUpForIt) {
  order_.peers = {{"p-2", "10.0.0.2"}};
  own_program("cat $2\necho replace $1 says so\n");
  const auto result = this->result();
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].verdict, CheckVerdict::Replace);
  EXPECT_EQ(result.findings[0].reason, "InstanceStress says so");
  EXPECT_EQ(read_file(root_ / "var/log/espalier/InstanceStress.log").value_or(""),
            "p-2 10.0.0.2\nreplace InstanceStress says so\n");
}

TEST_F(DeepCheckTest, OneThatHangsIsKilledAndSaysNothing) {
  order_.time_limit = Millis(1000);
  own_program("echo healthy\nsleep 600\n");
  const auto result = this->result();
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].verdict, CheckVerdict::NotChecked);
  EXPECT_THAT(result.findings[0].reason, HasSubstr("killed after 1 s"));
}

TEST_F(DeepCheckTest, EveryPeerIsCalled) {
  order_.kinds = {kConnectivity};
  order_.peers = {{"p-2", "127.0.0.1"}, {"p-3", "127.0.0.2"}, {"p-4", "127.0.0.1"}};  // the server has one address
  const auto result = this->result();
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings[0].peers, ElementsAre("p-2", "p-3", "p-4"));
  EXPECT_THAT(result.findings[0].unreachable, ElementsAre("p-3"));
  EXPECT_EQ(result.findings[0].verdict, CheckVerdict::Drain);
  EXPECT_THAT(result.findings[0].reason, HasSubstr("2 of 3"));
}

TEST_F(DeepCheckTest, WithoutPeersNothingWasReached) {
  order_.kinds = {kConnectivity};
  EXPECT_EQ(result().findings.at(0).verdict, CheckVerdict::NotChecked);
}

TEST_F(DeepCheckTest, TheSameCheckAgainIsAnsweredNotRepeated) {
  own_program("echo x >>$(dirname $0)/runs\necho healthy\n");
  result();
  results_ = {};
  EXPECT_EQ(result("c2").id, "c2");
  EXPECT_EQ(read_file(root_ / "etc/espalier/runs").value_or(""), "x\n");
}

TEST_F(DeepCheckTest, OneAtATime) {
  own_program("while ! [ -e $(dirname $0)/go ]; do sleep 0.05; done\necho healthy\n");
  ASSERT_TRUE(checks_.begin("c1", order_));
  order_.check = "check-2";
  EXPECT_EQ(checks_.begin("c2", order_).error().code, ErrorCode::kConflict);
  order_.check = "check-1";
  ASSERT_TRUE(checks_.begin("c3", order_));  // a control plane that started anew
  ASSERT_TRUE(write_file(root_ / "etc/espalier/go", ""));
  EXPECT_EQ(results_.get_future().get().id, "c3");
}

}  // namespace
}  // namespace espalier::agent
