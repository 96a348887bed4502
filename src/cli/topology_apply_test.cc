// Against a Slurm that remembers: what it is told by scontrol and what stands in its folder.
#include "cli/topology_apply.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "topology/shown.h"
#include "topology/sources/alone.h"

namespace espalier::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class FakeSlurm {
 public:
  explicit FakeSlurm(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<RunResult> run(const std::vector<std::string>& argv) {
    const auto words = fmt::format("{}", fmt::join(argv, " "));
    calls.push_back(words);
    if (words == "scontrol --version") return RunResult{0, "slurm 24.11.5\n", ""};
    if (words == "scontrol ping") return RunResult{0, is_up ? "Slurmctld(primary) at x is UP\n" : "is DOWN\n", ""};
    if (words == "scontrol show config")
      return RunResult{
          0, fmt::format("SLURM_CONF = {}/slurm.conf\nTopologyPlugin   = topology/tree\n", folder_.string()), ""};
    if (words == "scontrol -o show nodes") return RunResult{0, "NodeName=n2 State=IDLE\nNodeName=n1 State=IDLE\n", ""};
    if (words == "scontrol show topology") return RunResult{0, loaded_, ""};
    if (words == "scontrol reconfigure") return reconfigure();
    return RunResult{1, "", "invalid: " + words};
  }

  bool refuses = false;  // the next reconfigure
  bool is_up = true;
  std::vector<std::string> calls;

 private:
  RunResult reconfigure() {
    if (std::exchange(refuses, false)) return {1, "", "slurm_reconfigure error: fatal"};
    loaded_ = read_file(folder_ / "topology.conf").value_or("");
    if (loaded_.starts_with('#')) loaded_.erase(0, loaded_.find('\n') + 1);
    return {0, "", ""};
  }

  std::filesystem::path folder_;
  std::string loaded_;
};

class Apply : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(make_folder(folder_));
  }
  Result<Applied> apply_paths(const topology::Positions& positions) {
    const auto facts = slurm_.facts();
    EXPECT_TRUE(facts) << facts.error().message;
    topology::Memory memory;
    return apply(topology::plan_alone({.nodes = facts->nodes, .positions = positions, .kept = {}}, memory), *facts,
                 slurm_);
  }
  std::string file() { return read_file(folder_ / "topology.conf").value_or(""); }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  FakeSlurm fake_{folder_};
  LocalSlurm slurm_{[this](const auto& argv) { return fake_.run(argv); }};
  const topology::Positions apart_ = {{"n1", {{"core", "a"}, ""}}, {"n2", {{"core", "b"}, ""}}};
  const topology::Positions together_ = {{"n1", {{"core", "a"}, ""}}, {"n2", {{"core", "a"}, ""}}};
};

TEST_F(Apply, FactsAreRead) {
  const auto facts = slurm_.facts();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->folder, folder_);
  EXPECT_EQ(facts->plugin, "topology/tree");
  EXPECT_THAT(facts->nodes, testing::ElementsAre("n1", "n2"));
}

TEST_F(Apply, IsWrittenReadBackAndNotSentAgain) {
  const auto first = apply_paths(apart_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->outcome, Outcome::reconfigured);
  EXPECT_THAT(file(), HasSubstr("SwitchName=b Nodes=n2"));
  fake_.calls.clear();
  const auto second = apply_paths(apart_);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->outcome, Outcome::unchanged);
  EXPECT_THAT(second->changes, IsEmpty());
  EXPECT_THAT(fake_.calls, testing::Not(testing::Contains("scontrol reconfigure")));
}

TEST_F(Apply, ARefusalBringsTheOldFileBack) {
  ASSERT_TRUE(apply_paths(apart_));
  const auto before = file();
  fake_.refuses = true;
  const auto refused = apply_paths(together_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the files that were there are back, and slurmctld has read them"));
  EXPECT_EQ(file(), before);
  EXPECT_TRUE(apply_paths(together_));
}

TEST_F(Apply, ASlurmctldThatEndedIsSaid) {
  fake_.is_up = false;
  const auto ended = apply_paths(apart_);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("does not answer"));
  EXPECT_EQ(file(), "");
}

TEST_F(Apply, AnotherPluginIsTheUsersToChange) {
  auto facts = slurm_.facts();
  facts->plugin = "topology/default";
  topology::Memory memory;
  const auto done =
      apply(topology::plan_alone({.nodes = {"n1", "n2"}, .positions = apart_, .kept = {}}, memory), *facts, slurm_);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("TopologyPlugin=topology/default"));
  EXPECT_EQ(file(), "");
}

}  // namespace
}  // namespace espalier::cli
