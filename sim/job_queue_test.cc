#include "job_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/files.h"

namespace espalier::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Millis kHour{3'600'000};
constexpr Time kNow{Millis(1'000'000'000)};

TEST(Startable, InTheirOrderAsLongAsNodesAreIdle) {
  EXPECT_THAT(startable({{2, kHour}, {3, kHour}, {1, kHour}}, {}, 5, kNow), ElementsAre(0, 1));
  EXPECT_THAT(startable({{2, kHour}}, {}, 0, kNow), IsEmpty());
}

TEST(Startable, AShortJobIsLetPastOneThatWaits) {
  // Four of eight are busy for an hour; eight are wanted then.
  const std::vector<RunningJob> busy{{4, kNow + kHour}};
  EXPECT_THAT(startable({{8, kHour}, {4, kHour}}, busy, 4, kNow), ElementsAre(1));     // it ends just in time
  EXPECT_THAT(startable({{8, kHour}, {4, 2 * kHour}}, busy, 4, kNow), IsEmpty());      // it would delay the first
  EXPECT_THAT(startable({{6, kHour}, {2, 9 * kHour}, {1, 9 * kHour}}, busy, 4, kNow),  // two are spare even then,
              ElementsAre(1));                                                         // once
}

TEST(Startable, AJobThatNoNodesAreThereForKeepsNobodyWaiting) {
  EXPECT_THAT(startable({{64, kHour}, {2, 9 * kHour}}, {{2, kNow + kHour}}, 2, kNow), ElementsAre(1));
}

class JobQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    slurm_.start({{std::string(slurm::kNodesConf), "NodeName=n-[1-4] State=CLOUD\n"},
                  {std::string(slurm::kPartitionsConf), "PartitionName=p Nodes=n-[1-4]\n"}});
    for (int i = 1; i <= 4; ++i) slurm_.registers(fmt::format("n-{}", i), fmt::format("10.0.0.{}", i));
  }
  Slurm slurm_;
  JobQueue queue_;
};

TEST_F(JobQueueTest, AJobRunsItsTimeAndMakesRoom) {
  queue_.submit({"a", "p", 3, kHour}, kNow);
  queue_.submit({"b", "p", 3, kHour}, kNow);
  queue_.look(slurm_, kNow);
  EXPECT_EQ(queue_.jobs()[0].started, kNow);
  EXPECT_FALSE(queue_.jobs()[1].started);
  queue_.look(slurm_, kNow + kHour);
  EXPECT_EQ(queue_.jobs()[0].ended, kNow + kHour);
  EXPECT_EQ(queue_.jobs()[1].started, kNow + kHour);
  EXPECT_THAT(queue_.runs(kNow + 2 * kHour), SizeIs(2));
}

TEST_F(JobQueueTest, AJobThatLosesANodeRunsAgainFromItsCheckpoint) {
  queue_.submit({"a", "p", 2, kHour, kHour / 4}, kNow);
  queue_.look(slurm_, kNow);
  const Time later = kNow + kHour * 5 / 8;
  slurm_.machine_ends(queue_.runs(kNow)[0].nodes[1]);
  queue_.look(slurm_, later);
  EXPECT_EQ(queue_.jobs()[0].restarts, 1);
  EXPECT_EQ(queue_.jobs()[0].left, kHour / 2);  // two quarters are kept, the one that had begun is lost
  queue_.look(slurm_, later + kHour / 2);
  EXPECT_EQ(queue_.jobs()[0].ended, later + kHour / 2);
}

TEST_F(JobQueueTest, NothingStartsWhileSlurmctldIsDown) {
  slurm_.stop();
  queue_.submit({"a", "p", 1, kHour}, kNow);
  queue_.look(slurm_, kNow);
  EXPECT_EQ(queue_.running(), 0U);
  slurm_.start_again();
  queue_.look(slurm_, kNow + Millis(1000));
  EXPECT_EQ(queue_.running(), 1U);
}

}  // namespace
}  // namespace espalier::sim
