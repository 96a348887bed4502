// Real processes below a root of the test's own.
#include "agent/lifecycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "agent/files.h"
#include "base/base64.h"
#include "base/file.h"

namespace espalier::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class LifecycleTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root_); }
  void SetUp() override {
    fs::remove_all(root_);
    lifecycle_.digest = "d1";
    lifecycle_.folder = "/tmp/bucket/life";
    lifecycle_.script = "on_create.sh";
    lifecycle_.time_limit = Millis(60'000);
  }
  void script(const std::string& text) { files_ = {{"on_create.sh", to_base64(text), false}}; }
  // "" or what went wrong.
  std::string run() {
    const auto done = runner_.run(lifecycle_);
    return done ? "" : done.error().message;
  }
  std::string text_of(const fs::path& path) { return read_file(root_ / path.relative_path()).value_or("nothing"); }

  const fs::path root_ = fs::path(testing::TempDir()) / fmt::format("lifecycle-{}", getpid());
  std::vector<ScriptFile> files_;
  int fetched_ = 0;
  std::optional<Error> fetch_error_;
  Lifecycle lifecycle_;
  Processes processes_;
  LifecycleRunner runner_{processes_,
                          [this](const std::string& digest) -> Result<std::vector<ScriptFile>> {
                            EXPECT_EQ(digest, "d1");
                            if (++fetched_ == 1 && fetch_error_) return tl::unexpected(*fetch_error_);
                            return files_;
                          },
                          root_};
};

TEST_F(LifecycleTest, RunsOnceWithItsFilesBesideItAndKeepsALog) {
  script(
      "#!/bin/sh\necho \"$0 in $PWD as $(id -u) home $HOME\"\necho oops >&2\ncat lib/data\necho "
      "$SAGEMAKER_RESOURCE_CONFIG_PATH $EXTRA\n");
  files_.push_back({"lib/data", to_base64("data\n"), false});
  lifecycle_.environment = {{"EXTRA", "more"}};
  ASSERT_EQ(run(), "");
  const std::string folder = (root_ / "tmp/bucket/life").string();
  EXPECT_EQ(text_of(kLifecycleLog),
            fmt::format("--- OnCreate: on_create.sh\n{0}/on_create.sh in {0} as {1} home /root\n"
                        "oops\ndata\n/opt/ml/config/resource_config.json more\n",
                        folder, getuid()));
  ASSERT_EQ(run(), "");
  EXPECT_EQ(fetched_, 1) << "it ran twice";
  lifecycle_.hook = LifecycleHook::OnInitComplete;
  ASSERT_EQ(run(), "");
  EXPECT_EQ(fetched_, 2) << "the other hook is another script";
}

TEST_F(LifecycleTest, ConfigIsWrittenEachTimeAlsoWithoutAScript) {
  lifecycle_.digest = "";
  lifecycle_.config = {{"resource_config.json", "{}", false}};
  ASSERT_EQ(run(), "");
  EXPECT_EQ(text_of("/opt/ml/config/resource_config.json"), "{}");
  lifecycle_.config[0].text = "{\"a\":1}";
  ASSERT_EQ(run(), "");
  EXPECT_EQ(text_of("/opt/ml/config/resource_config.json"), "{\"a\":1}");
  lifecycle_.config[0].name = "../../../etc/passwd";
  EXPECT_THAT(run(), HasSubstr("no name of a file"));
  EXPECT_EQ(fetched_, 0);
}

TEST_F(LifecycleTest, AFailureSaysWhatTheLogSaysAndIsTriedAgain) {
  script("echo password=hunter2\necho \"cannot mount /fsx\" >&2\nexit 3\n");
  const std::string said = run();
  EXPECT_THAT(said, HasSubstr("lifecycle script on_create.sh (OnCreate): ended with status 3"));
  EXPECT_THAT(said, HasSubstr("cannot mount /fsx"));
  EXPECT_THAT(said, Not(HasSubstr("hunter2")));
  script("echo fine\n");
  EXPECT_EQ(run(), "");
  EXPECT_EQ(fetched_, 2);
}

TEST_F(LifecycleTest, TheTailIsBounded) {
  script("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; exit 1\n");
  const std::string said = run();
  EXPECT_LT(said.size(), 2500U);
  EXPECT_THAT(said, HasSubstr("line 4999"));
}

TEST_F(LifecycleTest, ATimeLimitEndsItsWholeGroup) {
  script("sleep 1000 & echo $! >$PWD/new && mv new child; wait\n");
  // On a busy host the script may need longer to come so far.
  for (lifecycle_.time_limit = Millis(100); text_of("/tmp/bucket/life/child") == "nothing"; lifecycle_.time_limit *= 2)
    EXPECT_THAT(run(), HasSubstr("was killed after its time limit of"));
  const int child = std::stoi(text_of("/tmp/bucket/life/child"));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (kill(child, 0) == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_NE(kill(child, 0), 0) << "what it started lives on";
}

TEST_F(LifecycleTest, WhatASuccessLeavesRunningRunsOn) {
  script("sleep 1000 & echo $! >$PWD/child\n");
  ASSERT_EQ(run(), "");
  const int child = std::stoi(text_of("/tmp/bucket/life/child"));
  EXPECT_EQ(kill(child, SIGKILL), 0);
}

TEST_F(LifecycleTest, AFetchThatFlakesIsTriedAgain) {
  script("exit 0\n");
  fetch_error_ = Error{ErrorCode::kUnavailable, "connection reset"};
  EXPECT_EQ(run(), "");
  EXPECT_EQ(fetched_, 2);
}

TEST_F(LifecycleTest, RefusesWhatLeadsOutOfItsFolder) {
  script("exit 0\n");
  files_.push_back({"../../../etc/x", "", false});
  EXPECT_THAT(run(), HasSubstr("no name of a file"));
  script("exit 0\n");
  lifecycle_.folder = "/etc";
  EXPECT_THAT(run(), HasSubstr("not below /tmp"));
  lifecycle_.folder = "/tmp/../etc";
  EXPECT_THAT(run(), HasSubstr("no name of a file"));
  EXPECT_FALSE(fs::exists(root_ / "etc"));
  lifecycle_.folder = "/tmp/bucket/life";
  script("exit 0\n");
  ASSERT_TRUE(put_file(root_ / "tmp/bucket/outside.sh", "touch $(dirname $0)/ran\n"));
  lifecycle_.script = "../outside.sh";
  EXPECT_THAT(run(), HasSubstr("no name of a file"));
  EXPECT_FALSE(fs::exists(root_ / "tmp/bucket/ran"));
}

TEST_F(LifecycleTest, AMissingScriptIsNamed) {
  files_ = {{"other.sh", "", false}};
  EXPECT_THAT(run(), HasSubstr("there is no file on_create.sh"));
}

TEST_F(LifecycleTest, FilesOfAnEarlierTryAreGone) {
  script("test ! -e old && exit 0\n");
  fs::create_directories(root_ / "tmp/bucket/life");
  ASSERT_TRUE(write_file(root_ / "tmp/bucket/life/old", ""));
  EXPECT_EQ(run(), "");
}

}  // namespace
}  // namespace espalier::agent
