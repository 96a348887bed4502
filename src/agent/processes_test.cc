#include "agent/processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace espalier::agent {
namespace {

constexpr Millis kLong{20'000};

TEST(Processes, GivesTheOutputOfACommand) {
  Processes processes;
  EXPECT_EQ(processes.run({"sh", "-c", "echo out; echo err >&2"}, kLong).value_or("?"), "out\n");
  EXPECT_EQ(processes.run({"sh", "-c", "head -c 300000 /dev/zero"}, kLong).value_or("?").size(), 300'000U);
}

TEST(Processes, SaysWhyACommandFailed) {
  Processes processes;
  const auto failed = processes.run({"sh", "-c", "echo broken >&2; exit 3"}, kLong);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(failed.error().message.ends_with("status 3: broken")) << failed.error().message;
  EXPECT_EQ(processes.run({"no-such-program"}, kLong).error().code, ErrorCode::kNotFound);
}

TEST(Processes, KillsACommandAtItsDeadline) {
  Processes processes;
  const auto failed = processes.run({"sh", "-c", "sleep 1000 & wait"}, Millis(50));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kTimeout);
}

TEST(Processes, BoundsTheOutput) {
  Processes processes;
  EXPECT_EQ(processes.run({"cat", "/dev/zero"}, kLong).error().code, ErrorCode::kLimit);
}

TEST(Processes, ChildrenInheritNothing) {
  Processes processes;
  setenv("SECRET_OF_THE_AGENT", "x", 1);
  EXPECT_EQ(
      processes.run({"sh", "-c", "echo $SECRET_OF_THE_AGENT; ls /proc/self/fd | wc -l; pwd"}, kLong).value_or("?"),
      "\n4\n/\n");
  unsetenv("SECRET_OF_THE_AGENT");
}

TEST(Processes, AdoptsAnOrphan) {
  Processes processes;
  // The shell ends at once and leaves a child behind, which becomes ours.
  const auto pid = std::stoi(processes.run({"sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"}, kLong).value_or("0"));
  ASSERT_GT(pid, 1);
  processes.adopt(pid);
  EXPECT_EQ(processes.wait(pid, Millis(0)), std::nullopt);
  kill(pid, SIGKILL);
  const auto status = processes.wait(pid, kLong);
  ASSERT_TRUE(status);
  EXPECT_EQ(describe_status(*status), "signal 9 (Killed)");
}

TEST(Processes, DispatchesEachStatusToItsWaiter) {
  Processes processes;
  std::vector<std::jthread> waiters;
  for (int i = 0; i < 16; ++i) {
    waiters.emplace_back([&, i] {
      const auto pid = processes.spawn({{"sh", "-c", "exit " + std::to_string(i)}, {}, {getuid(), getgid()}});
      ASSERT_TRUE(pid);
      const auto status = processes.wait(*pid, kLong);
      ASSERT_TRUE(status);
      EXPECT_EQ(WEXITSTATUS(*status), i);
    });
  }
}

}  // namespace
}  // namespace espalier::agent
