// With real processes: a script plays the control plane.
#include "cli/background_serve.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/file.h"
#include "cli/fake_transport.h"

namespace espalier::cli {
namespace {

using testing::HasSubstr;

class BackgroundServe : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "cli-serve-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    options.state = folder + "/state";
    program = folder + "/program";
  }
  void TearDown() override {
    (void)stop_serve(options.state);
    std::filesystem::remove_all(std::filesystem::path(program).parent_path());
  }

  void script(const std::string& body) { ASSERT_TRUE(write_file(program, "#!/bin/sh\n" + body, 0755)); }
  // Answers as soon as the script has written a line.
  void answer_when_it_runs() {
    world.transport.answer("Espalier.DescribeService", [this](const json::object&) -> Result<http::Response> {
      if (read_file(options.state + "/serve.log").value_or("").empty()) return fail(ErrorCode::kUnavailable, "not yet");
      return http::Response{200, {}, R"({"Version": "0.1.0"})"};
    });
  }

  FakeWorld world;
  ServeOptions options;
  std::string program;
};

TEST_F(BackgroundServe, StartsWithTheOptionsAndStops) {
  script("echo \"$@\"\nexec sleep 300\n");
  world.context.pause = [](Millis) { std::this_thread::yield(); };  // a real process needs real time
  answer_when_it_runs();
  options.agent_port = 7;
  const auto service = start_serve(world.context, program, options);
  ASSERT_TRUE(service) << service.error().message;
  EXPECT_EQ(service->Version, "0.1.0");
  const std::string log = *read_file(options.state + "/serve.log");
  EXPECT_THAT(log, testing::StartsWith("serve --state=" + options.state));
  EXPECT_THAT(log, HasSubstr("--agent-port=7"));
  EXPECT_EQ(stop_serve(options.state), true);
  EXPECT_EQ(stop_serve(options.state), false) << "it has ended";
}

TEST_F(BackgroundServe, ThatEndsShowsItsLastWords) {
  script("echo 'port 8650 is taken'\nexit 1\n");
  world.context.pause = [](Millis) { std::this_thread::yield(); };
  world.transport.answer("Espalier.DescribeService",
                         [](const json::object&) { return fail(ErrorCode::kUnavailable, "no"); });
  const auto service = start_serve(world.context, program, options);
  ASSERT_FALSE(service);
  EXPECT_THAT(service.error().message, HasSubstr("port 8650 is taken"));
  EXPECT_EQ(stop_serve(options.state), false);
}

TEST_F(BackgroundServe, ThatNeverAnswersIsATimeout) {
  script("exec sleep 300\n");
  world.transport.answer("Espalier.DescribeService",
                         [](const json::object&) { return fail(ErrorCode::kUnavailable, "no"); });
  const auto service = start_serve(world.context, program, options);  // pauses advance the virtual clock
  ASSERT_FALSE(service);
  EXPECT_EQ(service.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(stop_serve(options.state), true) << "it is recorded, so that it can be stopped";
}

TEST_F(BackgroundServe, AnotherProcessWithTheRecordedPidIsLeftAlone) {
  ASSERT_TRUE(make_folder(options.state));
  ASSERT_TRUE(write_file(options.state + "/serve.json",
                         fmt::format(R"({{"pid": {}, "start_time": 1, "boot": ""}})", getpid())));
  EXPECT_EQ(stop_serve(options.state), false) << "and this test still runs";
}

}  // namespace
}  // namespace espalier::cli
