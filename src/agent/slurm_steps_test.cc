#include "agent/slurm_steps.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"

namespace espalier::agent {
namespace {

namespace fs = std::filesystem;

// A Slurm that remembers the commands it got and takes or refuses a reconfigure.
class SlurmStepsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "stepsXXXXXX";
    path_ = mkdtemp(name.data());
    folder_ = ConfigFolder(path_);
    ASSERT_TRUE(write_file(path_ / "topology.conf", "old"));
  }
  void TearDown() override { fs::remove_all(path_); }

  Result<std::string> run(const std::vector<std::string>& argv) {
    std::string line;
    for (const auto& word : argv) line += (line.empty() ? "" : " ") + word;
    commands_.push_back(line);
    if (line == "scontrol ping") return "Slurmctld(primary) at c-1 is UP\n";
    if (line == "scontrol reconfigure") {
      std::ofstream(path_ / "log", std::ios::app) << reconfigure_log_;
      return reconfigure_;
    }
    if (const auto found = answers_.find(line); found != answers_.end()) return found->second;
    return "";
  }
  std::vector<SlurmStepResult> carry_out(const std::vector<SlurmStep>& steps) {
    return SlurmSteps(folder_, [this](const auto& argv, Millis) { return run(argv); }, path_ / "log").carry_out(steps);
  }
  std::string topology() { return read_file(path_ / "topology.conf").value_or("(none)"); }

  static SlurmStep step(SlurmStepKind kind) {
    SlurmStep out;
    out.kind = kind;
    return out;
  }
  static SlurmStep write(const std::string& text) {
    SlurmStep out = step(SlurmStepKind::WriteFiles);
    out.files = {{"topology.conf", text, false}};
    return out;
  }

  fs::path path_;
  ConfigFolder folder_{""};
  std::vector<std::string> commands_;
  std::map<std::string, Result<std::string>> answers_;
  Result<std::string> reconfigure_ = "";
  std::string reconfigure_log_;
};

TEST_F(SlurmStepsTest, SaysWhatIsSetAndNothingElse) {
  SlurmStep nodes = step(SlurmStepKind::UpdateNodes);
  nodes.nodes = "p5-[1-2]";
  nodes.state = "DOWN";
  nodes.reason = "gone: $(reboot) now";
  nodes.address = "0.0.0.0";
  SlurmStep idle = step(SlurmStepKind::UpdateNodes);
  idle.nodes = "p5-1";
  idle.state = "IDLE";
  SlurmStep partition = step(SlurmStepKind::UpdatePartition);
  partition.partition = "dev";
  partition.options = "State=UP";
  SlurmStep create = step(SlurmStepKind::CreatePartition);
  create.partition = "p2";
  create.nodes = "p5-1";
  create.options = "State=UP  MaxTime=60";
  SlurmStep drop = step(SlurmStepKind::DeletePartition);
  drop.partition = "p2";
  EXPECT_EQ(carry_out({nodes, idle, partition, create, drop}).size(), 5U);
  EXPECT_EQ(
      commands_,
      (std::vector<std::string>{
          "scontrol update NodeName=p5-[1-2] State=DOWN Reason=gone: $(reboot) now NodeAddr=0.0.0.0",
          "scontrol update NodeName=p5-1 State=IDLE", "scontrol update PartitionName=dev Nodes= State=UP",
          "scontrol create PartitionName=p2 Nodes=p5-1 State=UP MaxTime=60", "scontrol delete PartitionName=p2"}));
}

TEST_F(SlurmStepsTest, PartitionStepsMayComeTwice) {
  answers_.insert({"scontrol create PartitionName=p2 Nodes=p5-1",
                   fail(ErrorCode::kUnavailable, "Error creating the partition: Invalid partition name specified")});
  answers_.insert(
      {"scontrol delete PartitionName=p3", fail(ErrorCode::kUnavailable, "Invalid partition name specified")});
  SlurmStep create = step(SlurmStepKind::CreatePartition);
  create.partition = "p2";
  create.nodes = "p5-1";
  SlurmStep drop = step(SlurmStepKind::DeletePartition);
  drop.partition = "p3";
  const auto results = carry_out({create, drop});
  EXPECT_TRUE(results.at(0).ok && results.at(1).ok);
  EXPECT_EQ(commands_.at(1), "scontrol update PartitionName=p2 Nodes=p5-1");
}

TEST_F(SlurmStepsTest, ReadsNodes) {
  answers_["sinfo -a -h -N -o %N|%T|%o|%E -n p5-1"] = "p5-1|idle|10.0.0.1|none\np5-1|idle|10.0.0.1|none\n";
  SlurmStep read = step(SlurmStepKind::ReadNodes);
  read.nodes = "p5-1";
  EXPECT_EQ(carry_out({read}).at(0).output, "p5-1|idle|10.0.0.1|\n");
}

TEST_F(SlurmStepsTest, AppliesFiles) {
  const auto results = carry_out({write("new"), step(SlurmStepKind::Reconfigure)});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(results[1].ok) << results[1].output;
  EXPECT_EQ(topology(), "new");
  EXPECT_EQ(commands_, (std::vector<std::string>{"scontrol reconfigure", "scontrol ping"}));
}

TEST_F(SlurmStepsTest, ARefusedReconfigurePutsTheFilesBackAndSaysWhy) {
  if (getuid() != 0) GTEST_SKIP() << "the files belong to root";
  std::ofstream(path_ / "log") << "fatal: an old story\n";
  reconfigure_ = fail(ErrorCode::kUnavailable, "status 1");
  reconfigure_log_ = "[x] fatal: Switch (a) has already been defined\n";
  const auto results = carry_out({write("bad"), step(SlurmStepKind::Reconfigure), step(SlurmStepKind::ReadTopology)});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_FALSE(results[1].ok);
  EXPECT_EQ(results[1].output, "status 1; fatal: Switch (a) has already been defined; the old files are back");
  EXPECT_EQ(topology(), "old");
}

TEST_F(SlurmStepsTest, AReconfigureOfUnknownOutcomeIsUndoneByAnother) {
  reconfigure_ = fail(ErrorCode::kTimeout, "no end in time");
  EXPECT_FALSE(carry_out({write("slow"), step(SlurmStepKind::Reconfigure)}).at(1).ok);
  EXPECT_EQ(topology(), "old");
  EXPECT_EQ(commands_, (std::vector<std::string>{"scontrol reconfigure", "scontrol ping", "scontrol reconfigure"}));
}

TEST_F(SlurmStepsTest, ALaterFailureLeavesWhatSlurmctldHasTaken) {
  answers_.insert({"scontrol show topology", fail(ErrorCode::kUnavailable, "no answer")});
  const auto results = carry_out(
      {write("taken"), step(SlurmStepKind::Reconfigure), write("not taken"), step(SlurmStepKind::ReadTopology)});
  EXPECT_FALSE(results.at(3).ok);
  EXPECT_EQ(topology(), "taken");
}

}  // namespace
}  // namespace espalier::agent
