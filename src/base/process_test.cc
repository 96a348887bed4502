#include "base/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "base/random.h"
#include "base/unique_fd.h"

namespace espalier {
namespace {

using testing::HasSubstr;

Result<RunResult> shell(const std::string& script, const RunOptions& options = {}) {
  return run({"sh", "-c", script}, options);
}

TEST(ProcessTest, GivesStatusAndBothOutputs) {
  const auto done = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->status, 3);
  EXPECT_EQ(done->out, "out\n");
  EXPECT_EQ(done->err, "err\n");
}

TEST(ProcessTest, ArgumentsArriveUntouched) {
  const auto done = run({"printf", "%s|", "two words", "$HOME", "", "*"});
  EXPECT_EQ(done.value().out, "two words|$HOME||*|");
}

TEST(ProcessTest, InputLargerThanAPipeArrivesWhole) {
  const std::string text(1'000'000, 'x');
  const auto done = run({"cat"}, {.input = text});
  EXPECT_EQ(done.value().out, text);
}

TEST(ProcessTest, InputThatIsNotReadHarmsNobody) {
  EXPECT_EQ(run({"true"}, {.input = std::string(1'000'000, 'x')}).value().status, 0);
}

TEST(ProcessTest, InputIsEmptyUnlessGiven) { EXPECT_EQ(run({"cat"}).value().out, ""); }

TEST(ProcessTest, EnvironmentIsAddedToAndReplaced) {
  const auto done = shell("echo $NEW $PATH", {.env = {{"NEW", "1"}, {"PATH", "/usr/bin:/bin"}}});
  EXPECT_EQ(done.value().out, "1 /usr/bin:/bin\n");
  EXPECT_EQ(shell("echo $PATH").value().out, std::string(std::getenv("PATH")) + "\n");
}

TEST(ProcessTest, RunsInTheFolderGiven) { EXPECT_EQ(run({"pwd"}, {.cwd = "/"}).value().out, "/\n"); }

TEST(ProcessTest, ASignalIsAStatusToo) { EXPECT_EQ(shell("kill -TERM $$").value().status, 128 + SIGTERM); }

TEST(ProcessTest, SaysWhatCouldNotBeStarted) {
  const auto absent = run({"no-such-program-anywhere"});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("no-such-program-anywhere"));

  const auto no_program = run({"/etc/passwd"});
  ASSERT_FALSE(no_program);
  EXPECT_EQ(no_program.error().code, ErrorCode::kPermission);

  const auto no_folder = run({"true"}, {.cwd = "/no/such/folder"});
  ASSERT_FALSE(no_folder);
  EXPECT_THAT(no_folder.error().message, HasSubstr("/no/such/folder"));

  EXPECT_EQ(run({}).error().code, ErrorCode::kInvalid);
}

TEST(ProcessTest, KillsWhatDoesNotEndInTimeWithItsChildren) {
  // Shell and child hold the only write ends: the end of file comes when both are gone.
  const auto fifo = std::filesystem::temp_directory_path() / ("espalier-" + secret_hex(8));
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const UniqueFd held(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto done = shell("exec 3>$FIFO; cat /dev/zero >/dev/null & wait",
                          {.timeout = Millis(100), .env = {{"FIFO", fifo.string()}}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(done.error().message, HasSubstr("100 ms"));
  fcntl(held.get(), F_SETFL, 0);
  char byte = 0;
  EXPECT_EQ(read(held.get(), &byte, 1), 0);
  std::filesystem::remove(fifo);
}

TEST(ProcessTest, DoesNotWaitForWhatTheProgramLeftBehind) {
  const auto done = shell("cat <&0 /dev/zero >/dev/null & echo $!");
  ASSERT_TRUE(done);
  const pid_t left = std::stoi(done->out);
  EXPECT_EQ(kill(left, SIGKILL), 0);
}

TEST(ProcessTest, OutputIsBounded) {
  EXPECT_EQ(shell("printf 12345", {.output_limit = 5}).value().out, "12345");
  for (const char* script : {"printf 123456", "printf 123456 >&2", "cat /dev/zero"}) {
    const auto done = shell(script, {.output_limit = 5});
    ASSERT_FALSE(done) << script;
    EXPECT_EQ(done.error().code, ErrorCode::kLimit);
  }
}

TEST(ProcessTest, LeaksNoDescriptors) {
  using std::filesystem::directory_iterator;
  const auto open_here = [] { return std::distance(directory_iterator("/proc/self/fd"), directory_iterator()); };
  const auto before = open_here();
  for (int i = 0; i < 20; ++i) run({i % 2 == 0 ? "true" : "no-such-program-anywhere"});
  EXPECT_EQ(open_here(), before);
}

TEST(ProcessTest, SeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([t] {
      const std::string text = std::to_string(t);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(run({"cat"}, {.input = text}).value().out, text);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace espalier
