// Real machines, in a network namespace of the test's own. Needs root and ESPALIER_NODE_IMAGE (images/node-image.sh).
#include "machine/build.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/file.h"
#include "machine/enter.h"
#include "machine/netlink.h"

namespace espalier::machine {
namespace {

namespace fs = std::filesystem;
constexpr Millis kPatience{10'000};

class BuildTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* image = std::getenv("ESPALIER_NODE_IMAGE");
    if (image == nullptr) GTEST_SKIP() << "SKIPPED: ESPALIER_NODE_IMAGE names no node image";
    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "SKIPPED: machines need root";
    fs::create_directories(folder_);
    fs::create_directories(home_);
    auto net = Netlink::open();
    ASSERT_TRUE(net && net->add_bridge("br0", "test", "10.77.0.1"));
    spec_ = {.id = MachineId("i-0123"),
             .key = "key",
             .cluster = {},
             .group = "p5",
             .slot = {},
             .role = NodeType::Compute,
             .instance_type = "ml.p5.48xlarge",
             .host_name = "p5-1",
             .address = "10.77.0.2",
             .prefix = 16,
             .gateway = "10.77.0.1",
             .bridge = "br0",
             .link = "esp-0123",
             .image = image,
             .volumes = {{home_, "/home"}},
             .gpus = 8,
             .neuron_devices = 2,
             .position = {},
             .zone = "",
             .launched_at = {}};
    ASSERT_TRUE(save_record(folder_ / kSpecFile, to_json(spec_)));
    ASSERT_TRUE(write_file(folder_ / kUserDataFile, "{\"token\": \"t\"}", 0600));
    ASSERT_TRUE(write_file(agent_,
                           "#!/bin/sh\necho \"$$ $* env:$(tr -d '\\0' </proc/1/environ)\" >/home/started\n"
                           "exec sleep infinity\n",
                           0755));
  }
  void TearDown() override {
    (void)tear_down(folder_, spec_, kPatience);
    fs::remove_all(base_);
  }

  // As a process of its own, as in production: build clones its caller. "" when it went well.
  std::string build_it(decltype(build)* how = build) {
    const fs::path report = base_ / "report";
    const pid_t child = fork();
    if (child == 0) {
      const auto built = how(folder_, agent_);
      (void)write_file(report, built ? "" : built.error().message);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    return read_file(report).value_or("no report");
  }
  // What the command writes, run in the machine.
  std::string in_machine(const std::string& command, const std::string& user = "root") {
    const auto entered = enter(folder_, {"(" + command + ") >/home/out 2>&1"}, user);
    EXPECT_TRUE(entered && *entered == 0) << command;
    return read_file(home_ / "out").value_or("nothing");
  }

  const fs::path base_ = testing::TempDir() + "machine-" + std::to_string(getpid());
  const fs::path folder_ = base_ / "i-0123", home_ = base_ / "home", agent_ = base_ / "agent";
  MachineSpec spec_;
};

TEST_F(BuildTest, MakesAMachineOfItsOwn) {
  ASSERT_EQ(build_it(), "");
  EXPECT_EQ(state(folder_).phase, Phase::kRuns);
  EXPECT_EQ(in_machine("hostname"), "p5-1\n");
  EXPECT_EQ(in_machine("cat /proc/1/comm"), "sleep\n");
  EXPECT_EQ(in_machine("ls /dev/nvidia* | wc -l"), "8\n");
  EXPECT_EQ(in_machine("ls /dev/neuron*"), "/dev/neuron0\n/dev/neuron1\n");
  EXPECT_EQ(in_machine("ip -o -4 addr show eth0 | awk '{print $4}'"), "10.77.0.2/16\n");
  EXPECT_EQ(in_machine("ip route | head -1 | cut -d' ' -f1-3"), "default via 10.77.0.1\n");
  EXPECT_EQ(in_machine("getent hosts p5-1 | awk '{print $1}'"), "10.77.0.2\n");
  EXPECT_EQ(in_machine("stat -c %a /run/espalier/user-data.json"), "600\n");
  EXPECT_EQ(in_machine("touch /etc/mine && echo written"), "written\n");
  EXPECT_FALSE(fs::exists(fs::path(spec_.image) / "etc/mine"));
  EXPECT_EQ(in_machine("echo $(ls " + base_.string() + " 2>/dev/null)"), "\n") << "the host is in sight";
  EXPECT_EQ(in_machine("ls /proc/1/fd | wc -l"), "3\n") << "files of the builder stayed open";
}

TEST_F(BuildTest, TheAgentStartsFirstWithItsUserDataAndWithoutOurEnvironment) {
  ASSERT_EQ(build_it(), "");
  EXPECT_EQ(in_machine("until [ -s /home/started ]; do :; done; cut -d: -f1,2 /home/started"),
            "1 run --user-data /run/espalier/user-data.json env:\n");
}

TEST_F(BuildTest, EntersAsAnOrdinaryUserWithALoginEnvironment) {
  ASSERT_EQ(build_it(), "");
  fs::create_directories(home_ / "ubuntu");
  fs::permissions(home_, fs::perms::all);
  EXPECT_EQ(in_machine("id -u; id -g; pwd; echo $USER $HOME", "ubuntu"),
            "1000\n1000\n/home/ubuntu\nubuntu /home/ubuntu\n");
  EXPECT_EQ(enter(folder_, {"exit", "7"}, "ubuntu"), 7);
  EXPECT_EQ(enter(folder_, {"kill -9 $$"}, "ubuntu"), 128 + 9);
  EXPECT_EQ(enter(folder_, {"true"}, "stranger"), 126);
}

TEST_F(BuildTest, WhatRunsInASessionEndsWithItsCaller) {
  ASSERT_EQ(build_it(), "");
  const pid_t caller = fork();
  if (caller == 0) {
    (void)enter(folder_, {"sleep 1000 & echo started >/home/mark; wait"}, "root");
    _exit(0);
  }
  while (!fs::exists(home_ / "mark")) usleep(1000);
  kill(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  EXPECT_EQ(in_machine("until ! grep -lsz '^sleep' /proc/[0-9]*/cmdline | grep -v /1/; do :; done; echo gone"),
            "gone\n");
}

TEST_F(BuildTest, ASessionOnATerminalHasOneOfTheMachine) {
  ASSERT_EQ(build_it(), "");
  int master = -1;
  const pid_t caller = forkpty(&master, nullptr, nullptr, nullptr);
  if (caller == 0) {
    const auto status =
        enter(folder_,
              {"tty; until [ \"$(stty size)\" = '40 120' ]; do :; done; echo 120; read line; echo got $line; exit 5"},
              "root");
    _exit(status ? *status : 99);
  }
  const winsize size{40, 120, 0, 0};
  ioctl(master, TIOCSWINSZ, &size);
  std::string seen;
  char buffer[1024];
  bool answered = false;
  for (ssize_t got = 0; (got = read(master, buffer, sizeof buffer)) > 0;) {
    seen.append(buffer, static_cast<std::size_t>(got));
    if (!answered && seen.find("120") != std::string::npos) answered = write(master, "word\r", 5) == 5;
  }
  int status = 0;
  waitpid(caller, &status, 0);
  close(master);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_NE(seen.find("/dev/pts/0"), std::string::npos) << seen;
  EXPECT_NE(seen.find("got word"), std::string::npos) << seen;
}

TEST_F(BuildTest, ASecondBuildLeavesItAlone) {
  ASSERT_EQ(build_it(), "");
  const int pid = state(folder_).pid1->pid;
  ASSERT_EQ(build_it(), "");
  EXPECT_EQ(state(folder_).pid1->pid, pid);
}

TEST_F(BuildTest, AFailureSaysWhyAndLeavesNothing) {
  ASSERT_TRUE(write_file(agent_, "#!/no/such/shell\n", 0755));
  EXPECT_EQ(build_it(), "cannot build machine i-0123: cannot start the agent: No such file or directory");
  EXPECT_EQ(state(folder_).phase, Phase::kUnbuilt);
  EXPECT_FALSE(Netlink::open()->find(spec_.link));
  ASSERT_TRUE(write_file(agent_, "#!/bin/sh\nexec sleep infinity\n", 0755));
  EXPECT_EQ(build_it(), "");
}

TEST_F(BuildTest, AMissingBridgeIsNamed) {
  ASSERT_TRUE(Netlink::open()->remove("br0"));
  EXPECT_EQ(build_it(), "cannot build machine i-0123: cannot find the link br0: No such device");
}

TEST_F(BuildTest, WhatRestsOfABrokenBuildIsInNoOnesWay) {
  fs::create_directories(folder_ / "upper/etc");
  ASSERT_TRUE(write_file(folder_ / "upper/etc/old", "old"));
  const pid_t sleeper = fork();
  if (sleeper == 0)
    while (true) pause();
  ASSERT_TRUE(Netlink::open()->add_cable(spec_.link, *Netlink::open()->find("br0"), sleeper, "10.77.0.9"));
  EXPECT_EQ(build_it(), "");
  EXPECT_EQ(in_machine("ls /etc/old 2>/dev/null || echo none"), "none\n");
  kill(sleeper, SIGKILL);
  waitpid(sleeper, nullptr, 0);
}

TEST_F(BuildTest, ARestartKeepsTheDiskAndNothingElse) {
  EXPECT_NE(build_it(restart).find("never complete"), std::string::npos);
  ASSERT_TRUE(write_file(agent_, "#!/bin/sh\ntrap 'exit 0' TERM\nsleep infinity & wait\n", 0755));
  ASSERT_EQ(build_it(), "");
  const int pid = state(folder_).pid1->pid;
  in_machine("echo mine >/etc/mine; rm /etc/fstab; echo gone >/run/gone");
  for (int i = 0; i < 2; ++i) ASSERT_EQ(build_it(restart), "");
  EXPECT_EQ(state(folder_).phase, Phase::kRuns);
  EXPECT_NE(state(folder_).pid1->pid, pid);
  EXPECT_EQ(in_machine("cat /etc/mine; ls /etc/fstab /run/gone 2>/dev/null || echo none"), "mine\nnone\n");
  EXPECT_EQ(in_machine("ip -o -4 addr show eth0 | awk '{print $4}'"), "10.77.0.2/16\n");
}

TEST_F(BuildTest, EndsWithAllThatBelongsToIt) {
  ASSERT_EQ(build_it(), "");
  ASSERT_TRUE(tear_down(folder_, spec_, kPatience));
  EXPECT_EQ(state(folder_).phase, Phase::kEnded);
  EXPECT_FALSE(Netlink::open()->find(spec_.link));
  EXPECT_TRUE(tear_down(folder_, spec_, kPatience)) << "gone before is a success";
}

}  // namespace
}  // namespace espalier::machine
