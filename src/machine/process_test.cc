#include "machine/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace espalier::machine {
namespace {

// A process that waits for its end.
pid_t start_child() {
  const pid_t child = fork();
  if (child == 0)
    while (true) pause();
  return child;
}

TEST(Process, IsFoundAgainByPidAndStartTime) {
  const auto record = record_of(getpid());
  ASSERT_TRUE(record);
  EXPECT_TRUE(open_process(*record));
  ProcessRecord other = *record;
  ++other.start_time;
  EXPECT_FALSE(open_process(other)) << "the pid was taken for the process";
  other = *record;
  other.boot = "another boot";
  EXPECT_FALSE(open_process(other));
}

TEST(Process, IsGoneOnceKilledThoughNobodyReapedIt) {
  const pid_t child = start_child();
  const auto record = record_of(child);
  ASSERT_TRUE(record);
  EXPECT_TRUE(kill_process(*record, Millis(10'000)));
  EXPECT_FALSE(open_process(*record));
  EXPECT_EQ(record_of(child).error().code, ErrorCode::kNotFound);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(kill_process(*record, Millis(10'000))) << "gone before is a success";
}

TEST(Process, ThatIgnoresASignalLivesOn) {
  const pid_t child = start_child();
  const auto record = record_of(child);
  EXPECT_EQ(end_process(*record, SIGCONT, Millis(10)).error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(end_process(*record, SIGUSR1, Millis(10'000)));
  waitpid(child, nullptr, 0);
}

TEST(Process, ARecordThatIsNotThereIsNotFound) {
  EXPECT_EQ(load_process(testing::TempDir() + "no-such-record").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace espalier::machine
