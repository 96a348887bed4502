#include "agent/daemon.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "agent/daemons.h"
#include "base/file.h"

namespace espalier::agent {
namespace {

namespace fs = std::filesystem;
constexpr Millis kLong{20'000};

// Daemons written in Perl, which every Debian has: they speak sd_notify's protocol.
constexpr const char* kPrelude = R"(
use Socket; $SIG{TERM} = sub { exit 0 };
sub say_to { socket(my $s, AF_UNIX, SOCK_DGRAM, 0); send($s, $_[0], 0, sockaddr_un($ENV{NOTIFY_SOCKET})) or die $!; }
sub note { open(my $f, ">>", $ARGV[0]) or die; print $f "$_[0]\n"; close $f; }
)";

class DaemonTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "daemonXXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  DaemonSpec spec(const std::string& program, std::vector<std::string> more = {}) {
    DaemonSpec out;
    out.name = "d";
    out.argv = {"perl", "-e", kPrelude + program, (folder_ / "notes").string()};
    out.argv.insert(out.argv.end(), more.begin(), more.end());
    out.user = {getuid(), getgid()};
    out.notify_folder = folder_;
    return out;
  }
  void changed() {
    const std::lock_guard lock(mutex_);
    ++changes_;
    changed_.notify_all();
  }
  // Waits until the daemon looks so.
  testing::AssertionResult becomes(const Daemon& daemon, bool running, const std::string& message) {
    std::unique_lock lock(mutex_);
    const auto is_so = [&] {
      const auto view = daemon.view();
      return view.running == running && view.message.find(message) != std::string::npos;
    };
    if (changed_.wait_for(lock, kLong, is_so)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << daemon.view().running << " " << daemon.view().message;
  }
  std::vector<pid_t> notes() {
    std::ifstream in(folder_ / "notes");
    return {std::istream_iterator<pid_t>(in), std::istream_iterator<pid_t>()};
  }

  fs::path folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int changes_ = 0;
  Processes processes_;
};

TEST_F(DaemonTest, IsReadyWhenItSaysSoAndEndsWhenAsked) {
  pid_t pid = 0;
  {
    Daemon daemon(spec("note($$); say_to('READY=1'); sleep 1000;"), processes_, [this] { changed(); });
    ASSERT_TRUE(daemon.await_ready(kLong));
    EXPECT_EQ(daemon.view(), (DaemonView{"d", true, ""}));
    pid = notes().at(0);
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(DaemonTest, IsReadyWhenItsSocketTakesConnections) {
  auto listening = spec("socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un($ARGV[1])); listen(S, 5); sleep 1000;",
                        {(folder_ / "s").string()});
  listening.socket = folder_ / "s";
  Daemon daemon(listening, processes_, [this] { changed(); });
  EXPECT_TRUE(daemon.await_ready(kLong));
}

TEST_F(DaemonTest, SaysWhyItDiedAndStartsItAgain) {
  // The first one dies, the second stays.
  Daemon daemon(spec("my $again = -e $ARGV[0]; note($$); if (!$again) { print STDERR 'error: no disk'; exit 7 }"
                     "say_to('READY=1'); sleep 1000;"),
                processes_, [this] { changed(); });
  ASSERT_TRUE(becomes(daemon, true, ""));
  EXPECT_EQ(notes().size(), 2U);
  kill(notes()[1], SIGKILL);
  EXPECT_TRUE(becomes(daemon, false, "d ended with signal 9"));
  EXPECT_TRUE(becomes(daemon, true, ""));
}

TEST_F(DaemonTest, ReportsTheLastWords) {
  Daemon daemon(spec("print STDERR \"error: no disk\\n\"; exit 7;"), processes_, [this] { changed(); });
  EXPECT_TRUE(becomes(daemon, false, "d ended with status 7; its last words: error: no disk"));
  // It does not wait to the end for what is hopeless.
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(daemon.await_ready(kLong));
  EXPECT_LT(std::chrono::steady_clock::now() - before, kLong);
}

TEST_F(DaemonTest, FollowsItToAnotherPid) {
  // What slurmctld does at a reconfigure: a successor runs before it ends itself. Only the successor's death is one.
  Daemon daemon(spec(R"(say_to('READY=1');
                        my $child = fork(); if (!$child) { sleep 1000; exit }
                        say_to("MAINPID=$child"); note($child); exit 0;)"),
                processes_, [this] { changed(); });
  ASSERT_TRUE(daemon.await_ready(kLong));
  while (notes().empty()) std::this_thread::yield();
  kill(notes()[0], SIGKILL);
  EXPECT_TRUE(becomes(daemon, false, "d ended with"));
  EXPECT_EQ(daemon.view().message.find("status 0"), std::string::npos) << daemon.view().message;
}

TEST_F(DaemonTest, WaitsForTheOtherSide) {
  auto waiting = spec("say_to('READY=1'); sleep 1000;");
  waiting.after = Endpoint{"127.0.0.1", 1};  // nobody listens on tcpmux
  Daemon daemon(waiting, processes_, [this] { changed(); });
  EXPECT_TRUE(becomes(daemon, false, "waiting for 127.0.0.1:1"));
}

TEST_F(DaemonTest, AMissingProgramIsNamed) {
  auto missing = spec("");
  missing.argv = {"no-such-daemon"};
  Daemon daemon(missing, processes_, [this] { changed(); });
  EXPECT_TRUE(becomes(daemon, false, "'no-such-daemon'"));
}

TEST_F(DaemonTest, DaemonsAreStartedOnceAndEndedForGood) {
  Daemons daemons(processes_, [](auto) {});
  ASSERT_TRUE(daemons.ensure_ready(spec("note($$); say_to('READY=1'); sleep 1000;"), kLong));
  ASSERT_TRUE(daemons.ensure_ready(spec("note($$); say_to('READY=1'); sleep 1000;"), kLong));
  EXPECT_EQ(notes().size(), 1U);
  daemons.end_all();
  EXPECT_EQ(kill(notes()[0], 0), -1);
  EXPECT_EQ(daemons.ensure(spec("")).error().code, ErrorCode::kConflict);
}

}  // namespace
}  // namespace espalier::agent
