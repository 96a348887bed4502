#include "agent/health.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace espalier::agent {
namespace {

namespace fs = std::filesystem;

Result<std::string> no_driver(const std::vector<std::string>&, Millis) { return fail(ErrorCode::kNotFound, "none"); }

TEST(Health, IsReadFromTheMachine) {
  const fs::path root = fs::path(testing::TempDir()) / fmt::format("health-{}", getpid());
  fs::remove_all(root);
  fs::create_directories(root / "dev");
  fs::create_directories(root / "proc/1");
  for (const char* name : {"nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia", "nvidia-uvm", "neuron0"})
    std::ofstream(root / "dev" / name) << "";
  std::ofstream(root / "proc/stat") << "cpu 1 2 3\nbtime 1800000000\nprocesses 9\n";
  std::ofstream(root / "proc/1/stat") << "1 (a b) c) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1250 77 88\n";
  const HealthView view = look_at_health("i-1", root, no_driver);
  EXPECT_EQ(view.machine_id, "i-1");
  EXPECT_EQ(view.gpus, 3);
  EXPECT_EQ(view.neuron_devices, 1);
  EXPECT_EQ(view.booted_at, Time(Millis(1'800'000'012'500)));  // a hundred ticks a second everywhere
  ASSERT_EQ(view.disks.size(), 1U) << "there is no /var/spool/slurmctld";
  EXPECT_EQ(view.disks[0].path, "/");
  EXPECT_GT(view.disks[0].total_bytes, view.disks[0].free_bytes);
}

TEST(Health, OfThisMachineIsPlausible) {
  const auto now = SystemClock().now();
  const HealthView view = look_at_health("i-1", "/", no_driver);
  EXPECT_LT(view.booted_at, now);
  EXPECT_GT(view.booted_at, now - std::chrono::years(10));
}

Health example() {
  Health health;
  health.view = {"i-1", Time(Millis(1'000'000)), 8, 0, {{"/", 500, 1000}}};
  health.daemons = {{"slurmd", true, ""}};
  return health;
}

// What `change` makes of the example is news.
bool is_news(const std::function<void(Health&)>& change) {
  Health now = example();
  change(now);
  return differs(example(), now);
}

TEST(Health, NewsAreWhatSomebodyMayHaveToActOn) {
  EXPECT_FALSE(is_news([](Health&) {}));
  EXPECT_TRUE(is_news([](Health& h) { h.view.gpus = 7; }));
  EXPECT_TRUE(is_news([](Health& h) { h.view.machine_id = "i-2"; }));
  EXPECT_TRUE(is_news([](Health& h) { h.view.booted_at += std::chrono::minutes(1); }));
  EXPECT_FALSE(is_news([](Health& h) { h.view.booted_at += std::chrono::seconds(1); }));
  EXPECT_TRUE(is_news([](Health& h) { h.daemons[0].running = false; }));
  EXPECT_TRUE(is_news([](Health& h) { h.clock_ahead = std::chrono::minutes(2); }));
  EXPECT_FALSE(is_news([](Health& h) { h.clock_ahead = std::chrono::seconds(2); }));
}

TEST(Health, DisksAreNewsWhenTheyPassAMark) {
  EXPECT_FALSE(is_news([](Health& h) { h.view.disks[0].free_bytes = 200; }));
  EXPECT_TRUE(is_news([](Health& h) { h.view.disks[0].free_bytes = 199; }));
  EXPECT_TRUE(is_news([](Health& h) { h.view.disks[0].free_bytes = 0; }));
  EXPECT_TRUE(is_news([](Health& h) { h.view.disks.clear(); }));
  EXPECT_FALSE(is_news([](Health& h) { h.view.disks[0].total_bytes = 0; })) << "nothing is known of its size";
}

}  // namespace
}  // namespace espalier::agent
