#include "agent/watch.h"

#include <gtest/gtest.h>

#include <deque>

namespace espalier::agent {
namespace {

// Hands out prepared answers to sinfo and remembers what was asked and seen.
class WatchTest : public testing::Test {
 protected:
  Result<std::string> run(const std::vector<std::string>& argv) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(argv.back());
    changed_.notify_all();
    return answer_;
  }
  void see(const std::vector<NodeView>& nodes, bool all) {
    const std::lock_guard lock(mutex_);
    seen_.emplace_back(nodes.empty() ? "" : nodes[0].state, all);
    changed_.notify_all();
  }
  template <typename Condition>
  bool eventually(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, Millis(20'000), condition);
  }
  void answer(Result<std::string> text) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(text);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Result<std::string> answer_ = "n-1|idle|10.0.0.1|none\n";
  std::deque<std::string> asked_;
  std::deque<std::pair<std::string, bool>> seen_;
  std::optional<Watch> watch_;

  void start() {
    watch_.emplace([this](const auto& argv, Millis) { return run(argv); },
                   [this](const auto& nodes, bool all) { see(nodes, all); });
  }
  void TearDown() override { watch_.reset(); }
};

TEST_F(WatchTest, LooksAtAllNodesAtOnce) {
  start();
  EXPECT_TRUE(eventually([&] { return !seen_.empty() && seen_.front() == std::pair(std::string("idle"), true); }));
}

TEST_F(WatchTest, LooksCloselyAtThoseThatAreWaitedFor) {
  start();
  watch_->look_closely_at("n-[1-2]");
  EXPECT_TRUE(eventually([&] { return std::ranges::count(asked_, "n-[1-2]") >= 2; }));
  EXPECT_TRUE(eventually([&] { return std::ranges::count(seen_, std::pair(std::string("idle"), false)) >= 2; }));
}

TEST_F(WatchTest, NoAnswerIsNoChange) {
  answer(fail(ErrorCode::kUnavailable, "slurmctld is away"));
  start();
  EXPECT_TRUE(eventually([&] { return !asked_.empty(); }));
  answer("n-1|down|10.0.0.1|none\n");
  watch_->poke();
  EXPECT_TRUE(eventually([&] { return !seen_.empty(); }));
  EXPECT_EQ(seen_.front().first, "down");
}

}  // namespace
}  // namespace espalier::agent
