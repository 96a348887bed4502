#include "agent/slurm_text.h"

#include <gtest/gtest.h>

namespace espalier::agent {
namespace {

TEST(SlurmText, ReadsEachNodeOnce) {
  const auto nodes = parse_nodes(
      "p5-1|idle|10.77.0.3|none\n"
      "p5-1|idle|10.77.0.3|none\n"
      "p5-2|down~|0.0.0.0|espalier:waiting\n"
      "p5-3|drained*|10.77.0.5|disk | fan\n"
      "slurm_load_node error\n"
      "\n");
  const std::vector<NodeView> wanted = {{"p5-1", "idle", "10.77.0.3", ""},
                                        {"p5-2", "down~", "0.0.0.0", "espalier:waiting"},
                                        {"p5-3", "drained*", "10.77.0.5", "disk | fan"}};
  EXPECT_EQ(nodes, wanted);
  EXPECT_EQ(node_lines(nodes),
            "p5-1|idle|10.77.0.3|\np5-2|down~|0.0.0.0|espalier:waiting\np5-3|drained*|10.77.0.5|disk | fan\n");
}

TEST(SlurmText, ReadsPartitions) {
  EXPECT_EQ(partition_lines("PartitionName=dev AllowGroups=ALL AllocNodes=ALL Nodes=p5-[1-3] TotalNodes=3\n"
                            "PartitionName=none Nodes=(null) State=UP\n"
                            "No partitions in the system\n"),
            "dev|p5-[1-3]\nnone|\n");
}

TEST(SlurmText, ReadsPing) {
  EXPECT_TRUE(says_up("Slurmctld(primary) at c-1 is UP\n"));
  EXPECT_TRUE(says_up("Slurmctld(primary) at c-1 is DOWN\nSlurmctld(backup) at c-2 is UP\n"));
  EXPECT_FALSE(says_up("Slurmctld(primary) at c-1 is DOWN\n*****\n** RESTORE SLURMCTLD DAEMON TO SERVICE **\n"));
  EXPECT_FALSE(says_up(""));
}

TEST(SlurmText, FindsTheCausesInALog) {
  EXPECT_EQ(causes_in("[x] error: a\n[x] fatal: Switch (leaf1) has already been defined\n[x] Resuming\nerror: b\n"),
            "error: a; fatal: Switch (leaf1) has already been defined");
  EXPECT_EQ(causes_in("slurmd: error: a\n[x] error: a\nslurmd: error: b\n"), "error: a; error: b");
  EXPECT_EQ(causes_in("error: 1\nerror: 2\nerror: 3\nerror: 4\nerror: 5\nerror: 6\n"), "error: 4; error: 5; error: 6");
  EXPECT_EQ(causes_in("all is well\n"), "");
}

}  // namespace
}  // namespace espalier::agent
