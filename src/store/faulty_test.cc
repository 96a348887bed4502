#include "store/faulty.h"

#include <gtest/gtest.h>

#include "store/test_samples.h"

namespace espalier::store {
namespace {

using samples::change;
using samples::create;

class FaultyStoreTest : public testing::Test {
 protected:
  std::int64_t revision_on_disk() {
    const auto loaded = disk_->load().value();
    return loaded.empty() ? 0 : loaded[0].revision;
  }
  std::unique_ptr<Store> disk_ = memory_store();
  FaultyStore store_{*disk_};
};

TEST_F(FaultyStoreTest, FailsTheChosenCommitOnly) {
  store_.plan({.at_commit = 2});
  EXPECT_TRUE(store_.apply(create("c1", "one")));
  EXPECT_EQ(store_.apply(change("c1", 1)).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(revision_on_disk(), 1);
  EXPECT_EQ(store_.apply(change("c1", 1)).value(), 2);
  EXPECT_EQ(store_.commits(), 3);
}

TEST_F(FaultyStoreTest, LosesTheAnswerOfACommitThatTookEffect) {
  store_.plan({.takes_effect = true});
  EXPECT_FALSE(store_.apply(create("c1", "one")));
  EXPECT_EQ(revision_on_disk(), 1);
  EXPECT_TRUE(store_.apply(change("c1", 1)));
}

TEST_F(FaultyStoreTest, CountsFromThePlan) {
  ASSERT_TRUE(store_.apply(create("c1", "one")));
  store_.plan({.at_commit = 1});
  EXPECT_FALSE(store_.apply(change("c1", 1)));
}

TEST_F(FaultyStoreTest, ACommitThatTheStoreRefusesKeepsItsOwnError) {
  store_.plan({.takes_effect = true});
  EXPECT_EQ(store_.apply(change("c1", 5)).error().code, ErrorCode::kConflict);
}

TEST_F(FaultyStoreTest, DeadStoreAnswersNothingAndWritesNothing) {
  ASSERT_TRUE(store_.apply(create("c1", "one")));
  store_.plan({.dies = true});
  EXPECT_FALSE(store_.apply(change("c1", 1)));
  EXPECT_FALSE(store_.apply(change("c1", 1)));
  EXPECT_FALSE(store_.load());
  EXPECT_FALSE(store_.events({}));
  EXPECT_FALSE(store_.event(ClusterId("c1"), "e"));
  EXPECT_FALSE(store_.prune_events(ClusterId("c1"), 1));
  EXPECT_EQ(revision_on_disk(), 1);
  FaultyStore restarted(*disk_);
  EXPECT_TRUE(restarted.apply(change("c1", 1)));
}

}  // namespace
}  // namespace espalier::store
