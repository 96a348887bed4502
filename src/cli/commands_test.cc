// The command line as a user types it.
#include <gmock/gmock.h>

#include <csignal>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"

namespace espalier::cli {
namespace {

using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out, err;
  ServeOptions served;
  SimulateOptions simulated;
};

Outcome type(std::vector<std::string> words) {
  words.insert(words.begin(), "espalier");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Outcome outcome;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto serve = [&outcome](const ServeOptions& options) {
    outcome.served = options;
    return 42;
  };
  const auto simulate = [&outcome](Context&, const SimulateOptions& options) -> Result<void> {
    outcome.simulated = options;
    return {};
  };
  outcome.code = run(static_cast<int>(words.size()), argv.data(), "1.2.3", serve, simulate);
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Commands, ServeIsHandedItsOptions) {
  ServeOptions wanted;
  wanted.state = "/srv/espalier";
  wanted.listen = "127.0.0.1:1";
  wanted.agent_port = 2;
  wanted.region = "eu-west-1";
  wanted.image = "/image";
  wanted.max_account_instances = 30;
  wanted.log_level = "debug";
  auto words = to_arguments(wanted);
  words.insert(words.begin(), "serve");
  const auto outcome = type(words);
  EXPECT_EQ(outcome.code, 42) << outcome.err;
  EXPECT_EQ(outcome.served, wanted);
}

TEST(Commands, SimulateIsHandedItsOptions) {
  const auto outcome = type({"simulate", "/dev/null", "--seed", "7", "--mode", "continuous", "--plot", "a.svg"});
  EXPECT_EQ(outcome.code, kOk) << outcome.err;
  EXPECT_EQ(outcome.simulated, (SimulateOptions{"/dev/null", 7, "continuous", "a.svg"}));
  EXPECT_EQ(type({"simulate"}).code, kUsage);
  EXPECT_EQ(type({"simulate", "/nowhere"}).code, kUsage);
  EXPECT_EQ(type({"simulate", "/dev/null", "--mode", "some"}).code, kUsage);
}

TEST(Commands, ServeReadsTheEnvironmentBelowItsArguments) {
  setenv("ESPALIER_STATE", "/from/environment", 1);
  setenv("ESPALIER_AGENT_PORT", "5", 1);
  const auto outcome = type({"serve", "--agent-port", "6"});
  unsetenv("ESPALIER_STATE");
  unsetenv("ESPALIER_AGENT_PORT");
  EXPECT_EQ(outcome.served.state, "/from/environment");
  EXPECT_EQ(outcome.served.agent_port, 6);
}

TEST(Commands, AWrongEnvironmentOfServeDisturbsNoOtherCommand) {
  setenv("ESPALIER_AGENT_PORT", "five", 1);
  EXPECT_EQ(type({"serve"}).code, kUsage);
  EXPECT_EQ(type({"cluster", "list", "--endpoint", "http://127.0.0.1:1"}).code, kNoConnection);
  unsetenv("ESPALIER_AGENT_PORT");
}

TEST(Commands, UsageErrorsSayWhatIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{}, "subcommand"},
      {{"node", "demo"}, "There is no command 'node'. Did you mean 'nodes'?"},
      {{"cluster", "lst"}, "There is no command 'lst'. Did you mean 'list'?"},
      {{"cluster", "list", "--", "x"}, "after --"},
      {{"cluster", "list", "x"}, "x"},
      {{"nodes"}, "CLUSTER"},
      {{"serve", "--log-level", "loud"}, "loud"},
      {{"serve", "--agent-port", "99999"}, "'99999' is no port"},
      {{"serve", "--agent-port", "0"}, "from 1 to 65535"},
      {{"serve", "--account", "12"}, "12 digits"},
      {{"up", "--bridge", "a-name-of-16-char"}, "1 to 15"},
      {{"serve", "--bridge", "a/b"}, "cannot be a link's name"},
      {{"cluster", "create"}, "cluster create NAME --group name=worker"},
      {{"cluster", "create", "--from", "/nonexistent/request.json"}, "/nonexistent/request.json"},
      {{"cluster", "add-group", "demo"}, "--group"},
      {{"cluster", "delete-group", "demo"}, "GROUP"},
      {{"capacity", "set", "a=1", "--failure-class", "Nope"}, "{Shortage,Quota,"},
      {{"cluster", "create", "demo", "--group", "name=w,size=3"}, "size=3"},
      {{"cluster", "create", "demo"}, "--group name=worker"},
      {{"cluster", "scale", "demo", "worker"}, "GROUP=N"},
      {{"cluster", "delete", "demo", "--timeout", "soon"}, "'soon' is no duration"},
      {{"events", "demo", "--level", "loud"}, "loud"},
      {{"capacity", "set", "a=1", "--failure-rate", "2"}, "failure-rate"},
  };
  for (const auto& [words, message] : wrong) {
    const auto outcome = type(words);
    EXPECT_EQ(outcome.code, kUsage) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

TEST(Commands, WithoutControlPlaneSayWhereTheyLooked) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--endpoint", "http://127.0.0.1:1/", "status"},
           {"cluster", "scale", "demo", "worker=3", "cpu=1", "--endpoint", "http://127.0.0.1:1"},
           {"ssh", "demo", "login-1", "--endpoint", "http://127.0.0.1:1", "--", "srun", "-N8", "nodes"},
           {"ssh", "--endpoint", "http://127.0.0.1:1", "demo", "login-1", "srun", "-N8", "--gres=gpu:8", "hostname"}}) {
    const auto outcome = type(words);
    EXPECT_EQ(outcome.code, kNoConnection) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("127.0.0.1:1"));
    EXPECT_EQ(outcome.out, "");
  }
}

// A file of four machines on two leaves.
std::string four_machines() {
  const std::string file = testing::TempDir() + "cli-commands-paths.csv";
  EXPECT_TRUE(write_file(file, "n1,core/a\nn2,core/b\nn3,core/a\nn4,core/b\n"));
  return "csv=" + file;
}

TEST(Commands, TopologyIsExplainedOfAClusterOrOfSources) {
  const auto alone = type({"topology", "explain", "--source", four_machines(), "n3"});
  EXPECT_EQ(alone.code, kOk) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("tree:a"));
  EXPECT_EQ(type({"topology", "explain", "demo", "n3", "--endpoint", "http://127.0.0.1:1"}).code, kNoConnection);
  EXPECT_EQ(type({"topology", "explain"}).code, kUsage);
  EXPECT_EQ(type({"topology", "explain", "--source", four_machines(), "n3", "n4"}).code, kUsage);
}

TEST(Commands, AMixOfJobsIsScoredBeforeAndAfter) {
  const auto scored = type({"topology", "score", "--source", four_machines(), "--mix", "2x2"});
  EXPECT_EQ(scored.code, kOk) << scored.err;
  EXPECT_THAT(scored.out, HasSubstr("leaves per job                2.00                  1.00"));
  EXPECT_EQ(type({"topology", "score", "--source", four_machines(), "--mix", "0"}).code, kUsage);
  EXPECT_EQ(type({"topology", "score", "--source", four_machines()}).code, kUsage);
}

TEST(Commands, VersionIsThePrograms) {
  const auto outcome = type({"--version"});
  EXPECT_EQ(outcome.code, kOk);
  EXPECT_EQ(outcome.out, "espalier 1.2.3\n");
}

TEST(Commands, TheListenExampleIsOneThatIsServed) {
  const auto outcome = type({"serve", "--help"});
  EXPECT_THAT(outcome.out, HasSubstr("--listen 127.0.0.1:"));
  EXPECT_THAT(outcome.out, HasSubstr("beyond this host only with access keys"));
}

TEST(ServeOptions, FaultsOfLinkNamesAsTheKernelSeesThem) {
  for (const char* name : {"espalier0", "br-0", "a.b_c", "exactly15chars_"})
    EXPECT_EQ(fault("bridge", name), "") << name;
  for (const char* name : {"", ".", "..", "a b", "a:b", "a/b", "br%d", "-a", "sixteen_letters_"})
    EXPECT_NE(fault("bridge", name), "") << name;
  EXPECT_NE(fault("account", "12345678901x"), "");
  EXPECT_NE(fault("agent-port", "65536"), "");
  EXPECT_EQ(fault("agent-port", "65535"), "");
  EXPECT_NE(fault("provider", "cloud"), "");
  EXPECT_EQ(fault("provider", "sim"), "");
  EXPECT_NE(fault("sim-speed", "0"), "");
  EXPECT_EQ(fault("sim-speed", "1000"), "");
  EXPECT_EQ(fault("state", "any/thing"), "");
}

TEST(Commands, HelpHasExitCodesAndExamples) {
  const auto root = type({"--help"});
  EXPECT_EQ(root.code, kOk);
  EXPECT_THAT(root.out, HasSubstr("4 no connection"));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"serve"},
                                                                                     {"up"},
                                                                                     {"down"},
                                                                                     {"cluster", "create"},
                                                                                     {"cluster", "list"},
                                                                                     {"cluster", "describe"},
                                                                                     {"cluster", "scale"},
                                                                                     {"cluster", "delete"},
                                                                                     {"cluster", "add-group"},
                                                                                     {"cluster", "delete-group"},
                                                                                     {"nodes"},
                                                                                     {"events"},
                                                                                     {"topology", "show"},
                                                                                     {"capacity", "show"},
                                                                                     {"capacity", "set"},
                                                                                     {"ssh"},
                                                                                     {"status"}}) {
    auto asked = words;
    asked.push_back("--help");
    const auto outcome = type(asked);
    EXPECT_EQ(outcome.code, kOk);
    EXPECT_THAT(outcome.out, HasSubstr("Examples:\n  espalier " + words[0]));
    EXPECT_THAT(outcome.out, HasSubstr("--json"));
  }
}

TEST(InterruptDeathTest, SaysThatTheWorkGoesOn) {
  EXPECT_EXIT(
      {
        const InterruptNotice notice("it goes on\n");
        raise(SIGINT);
      },
      testing::ExitedWithCode(130), "it goes on");
}

}  // namespace
}  // namespace espalier::cli
