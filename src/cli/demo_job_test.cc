#include "cli/demo_job.h"

#include <gmock/gmock.h>

namespace espalier::cli {
namespace {

using testing::ElementsAre;

TEST(DemoJob, ReadsWhatTheTasksWrote) {
  const auto ranks = parse_ranks(
      "1|worker-2|fabric.nn-1.nn-5.worker-2|0,1,2,3,4,5,6,7\n"
      "0|worker-1|nn-4.worker-1|0,1\n"
      "2|cpu-1|cpu-1|\n",
      3);
  ASSERT_TRUE(ranks) << ranks.error().message;
  EXPECT_THAT(*ranks, ElementsAre(Rank{0, "worker-1", "nn-4", "0,1"}, Rank{1, "worker-2", "nn-5", "0,1,2,3,4,5,6,7"},
                                  Rank{2, "cpu-1", "", ""}));
}

TEST(DemoJob, RefusesWhatIsNotWhole) {
  EXPECT_FALSE(parse_ranks("0|worker-1|a.b|0\n", 2)) << "one of two is missing";
  EXPECT_FALSE(parse_ranks("srun: error\n", 1));
  EXPECT_FALSE(parse_ranks("x|worker-1|a.b|0\n", 1));
}

TEST(DemoJob, IsOneLineThatTheLoginShellLeavesToTheTasks) {
  EXPECT_EQ(demo_line(8, "gpu"),
            "srun -N8 --ntasks-per-node=1 --gres=gpu:8 -p gpu bash -c "
            "'echo \"$SLURM_PROCID|$(hostname)|$SLURM_TOPOLOGY_ADDR|$CUDA_VISIBLE_DEVICES\"'");
}

}  // namespace
}  // namespace espalier::cli
