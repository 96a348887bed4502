#include "store/sqlite/committer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/test_samples.h"

namespace espalier::store {
namespace {

using samples::change;
using samples::create;

class CommitterTest : public testing::Test {
 protected:
  ~CommitterTest() override { std::filesystem::remove(path_); }

  sql::Database open() {
    std::ofstream(path_, std::ios::app).close();  // made when absent
    auto db = sql::Database::open(path_);
    if (!db || !migrate(*db, path_)) throw std::runtime_error("cannot open");
    return std::move(*db);
  }
  // Holds the committer up while `count` commits gather, so that they become one group.
  void apply_together(const std::vector<Commit>& commits, std::vector<Result<std::int64_t>>& results) {
    results.assign(commits.size(), 0);
    std::vector<std::thread> threads;
    auto held = committer_.write([&](sql::Database&) -> Result<void> {
      for (std::size_t i = 0; i < commits.size(); ++i) {
        threads.emplace_back([&, i] { results[i] = committer_.apply(commits[i]); });
        while (committer_.waiting() < i + 1) std::this_thread::yield();
      }
      return {};
    });
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(held);
  }

  const std::string path_ = std::filesystem::temp_directory_path() / ("espalier-" + secret_hex(8) + ".db");
  Committer committer_{open()};
};

TEST_F(CommitterTest, ThoseThatWaitTogetherShareOneTransaction) {
  std::vector<Commit> commits;
  for (int i = 0; i < 16; ++i) commits.push_back(create("c" + std::to_string(i), "n" + std::to_string(i)));
  std::vector<Result<std::int64_t>> results;
  apply_together(commits, results);
  for (const auto& result : results) EXPECT_EQ(result.value_or(-1), 1);
  EXPECT_EQ(committer_.groups(), 1);
}

TEST_F(CommitterTest, ARefusalLeavesTheOthersOfItsGroupAlone) {
  ASSERT_TRUE(committer_.apply(create("c1", "one")));
  Commit half = change("c1", 7);  // refused
  half.put_groups = {samples::group("a", 1)};
  std::vector<Result<std::int64_t>> results;
  apply_together({create("c2", "two"), half, create("c3", "one"), change("c1", 1), change("c1", 2)}, results);
  EXPECT_EQ(results[0].value_or(-1), 1);
  EXPECT_EQ(results[1].error().code, ErrorCode::kConflict);
  EXPECT_EQ(results[2].error().code, ErrorCode::kExists);
  EXPECT_EQ(results[3].value_or(-1), 2);
  EXPECT_EQ(results[4].value_or(-1), 3);  // sees the one before it

  auto db = open();
  const auto states = read_clusters(db).value();
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].revision, 3);
  EXPECT_TRUE(states[0].groups.empty());
}

TEST_F(CommitterTest, WhenTheFileFailsTheWholeGroupFailsAndNothingOfItStays) {
  ASSERT_TRUE(committer_.apply(create("c1", "one")));
  auto other = open();
  ASSERT_TRUE(other.script("CREATE TRIGGER broken BEFORE INSERT ON slots BEGIN SELECT RAISE(ROLLBACK, 'broken'); END"));
  Commit bad = change("c1", 1);
  bad.put_slots = {samples::slot("a", 1)};
  std::vector<Result<std::int64_t>> results;
  apply_together({create("c2", "two"), bad, create("c3", "three")}, results);
  for (const auto& result : results) EXPECT_FALSE(result);
  EXPECT_EQ(read_clusters(other).value().size(), 1u);
  ASSERT_TRUE(other.script("DROP TRIGGER broken"));
  EXPECT_EQ(committer_.apply(bad).value_or(-1), 2);  // and it goes on
}

TEST_F(CommitterTest, MoreThanAGroupHoldsAreStillAllWritten) {
  std::vector<Commit> commits;
  for (int i = 0; i < 300; ++i) commits.push_back(create("c" + std::to_string(i), "n" + std::to_string(i)));
  std::vector<Result<std::int64_t>> results;
  apply_together(commits, results);
  for (const auto& result : results) EXPECT_EQ(result.value_or(-1), 1);
  EXPECT_EQ(committer_.groups(), 2);
}

}  // namespace
}  // namespace espalier::store
