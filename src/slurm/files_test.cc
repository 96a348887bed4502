#include "slurm/files.h"

#include <gmock/gmock.h>

namespace espalier::slurm {
namespace {

using testing::HasSubstr;
using testing::Not;

ClusterFiles example() {
  return {.cluster_name = "train",
          .controller_name = "controller-1",
          .controller_address = "10.1.0.2",
          .nodes = {{"p5", "ml.p5.48xlarge", {"p5-1", "p5-2", "p5-3"}},
                    {"cpu", "ml.c5.4xlarge", {"cpu-1"}},
                    {"small", "ml.p5.4xlarge", {"small-1"}},
                    {"trn", "ml.trn2.48xlarge", {"trn-1"}},
                    {"none", "ml.c5.4xlarge", {}}},
          .partitions = {{"train", {"p5-1", "p5-2", "p5-3"}}, {"cpu", {"cpu-1"}}, {"later", {}}},
          .topology_plugin = "topology/tree",
          .topology_file = "SwitchName=fabric Nodes=p5-[1-3]\n"};
}

TEST(Files, DeclareOneLineAGroup) {
  const auto text = render(example())[kNodesConf];
  EXPECT_THAT(text, HasSubstr("\nNodeName=p5-[1-3] NodeAddr=0.0.0.0 CPUs=192 Sockets=1 CoresPerSocket=96 "
                              "ThreadsPerCore=2 RealMemory=2097152 Gres=gpu:h100:8 State=CLOUD\n"));
  EXPECT_THAT(text, HasSubstr("\nNodeName=cpu-1 NodeAddr=0.0.0.0 CPUs=16 Sockets=1 CoresPerSocket=8 ThreadsPerCore=2 "
                              "RealMemory=32768 State=CLOUD\n"));
  EXPECT_THAT(text, HasSubstr("RealMemory=2097152 Gres=neuron:16 State=CLOUD\n"));
  EXPECT_THAT(text, HasSubstr("\nGresTypes=gpu,neuron\n"));
  EXPECT_THAT(text, Not(HasSubstr("none")));
}

TEST(Files, GiveEveryGresItsDevice) {
  const auto text = render(example())[kGresConf];
  EXPECT_THAT(text, HasSubstr("\nNodeName=p5-[1-3] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n"));
  EXPECT_THAT(text, HasSubstr("\nNodeName=small-1 Name=gpu Type=h100 File=/dev/nvidia0\n"));
  EXPECT_THAT(text, HasSubstr("\nNodeName=trn-1 Name=neuron File=/dev/neuron[0-15]\n"));
  EXPECT_THAT(text, Not(HasSubstr("cpu-1")));
}

TEST(Files, AddTheDefaultPartitionWithAllNodes) {
  const auto text = render(example())[kPartitionsConf];
  EXPECT_THAT(text, HasSubstr("\nPartitionName=dev Nodes=cpu-1,p5-[1-3],small-1,trn-1 Default=YES State=UP\n"));
  EXPECT_THAT(text, HasSubstr("\nPartitionName=train Nodes=p5-[1-3] State=UP\n"));
  EXPECT_THAT(text, HasSubstr("\nPartitionName=later Nodes=\"\" State=UP\n"));
  EXPECT_EQ(text, render_partitions(partition_nodes(example())));
}

TEST(Files, NameTheControllerByNameAndAddress) {
  const auto text = render(example())[kSlurmConf];
  EXPECT_THAT(text, HasSubstr("\nClusterName=train\n"));
  EXPECT_THAT(text, HasSubstr("\nSlurmctldHost=controller-1(10.1.0.2)\n"));
  EXPECT_THAT(text, Not(HasSubstr("{")));
  for (const auto* file : {kNodesConf, kPartitionsConf, kTopologyPluginConf})
    EXPECT_THAT(text, HasSubstr(std::string("\nInclude ") + file + "\n"));
}

TEST(Files, HaveNoTopologyFileWhenFlat) {
  auto flat = example();
  flat.topology_plugin = "topology/default";
  flat.topology_file = "";
  auto files = render(flat);
  EXPECT_EQ(files.count(kTopologyConf), 0U);
  EXPECT_THAT(files[kTopologyPluginConf], HasSubstr("TopologyPlugin=topology/default\n"));
  EXPECT_THAT(files[kTopologyPluginConf], Not(HasSubstr("TopologyParam")));
  EXPECT_THAT(render(example())[kTopologyPluginConf], HasSubstr("TopologyParam=SwitchAsNodeRank\n"));
}

TEST(Files, CarryTheTopologiesOfNewSlurm) {
  auto next = example();
  next.topology_file = "";
  next.topology_yaml = "- topology: tree\n";
  next.topology_param = "BlockAsNodeRank";
  next.partition_topology = {{"train", "block"}};
  auto files = render(next);
  EXPECT_EQ(files[kTopologyYaml], "- topology: tree\n");
  EXPECT_EQ(files.count(kTopologyConf), 0U);
  EXPECT_THAT(files[kTopologyPluginConf], HasSubstr("TopologyParam=BlockAsNodeRank\n"));
  EXPECT_THAT(files[kPartitionsConf], HasSubstr("\nPartitionName=train Nodes=p5-[1-3] Topology=block State=UP\n"));
  EXPECT_THAT(files[kPartitionsConf], HasSubstr("\nPartitionName=cpu Nodes=cpu-1 State=UP\n"));
  next.topology_param = "";
  EXPECT_THAT(render(next)[kTopologyPluginConf], Not(HasSubstr("TopologyParam")));
}

TEST(Files, DeclareThePaddingOfBlocks) {
  auto padded = example();
  padded.padding = {"pad_p5-b1_1", "pad_p5-b1_2"};
  EXPECT_THAT(render(padded)[kNodesConf], HasSubstr("\nNodeName=pad_p5-b1_[1-2] State=FUTURE\n"));
  EXPECT_THAT(render(padded)[kPartitionsConf], Not(HasSubstr("pad_")));
}

TEST(Files, DeclareEveryTypeOfKnownSizeWithItsCpus) {
  for (const auto& [name, type] : instance_types()) {
    ClusterFiles files;
    files.nodes = {{"g", name, {"g-1"}}};
    const auto text = render(files)[kNodesConf];
    if (type.vcpus) {
      EXPECT_THAT(text, HasSubstr(fmt::format(" CPUs={} ", *type.vcpus))) << name;
    } else {
      EXPECT_THAT(text, HasSubstr("NodeName=g-1 NodeAddr=0.0.0.0 State=CLOUD\n")) << name;
    }
  }
}

TEST(ClusterName, IsWhatSlurmMakesOfIt) {
  EXPECT_EQ(cluster_name_for_slurm("My-Cluster-1"), "my-cluster-1");
  EXPECT_EQ(cluster_name_for_slurm(std::string(63, 'A')), std::string(63, 'a'));
}

}  // namespace
}  // namespace espalier::slurm
