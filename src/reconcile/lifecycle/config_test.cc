#include "reconcile/lifecycle/config.h"

#include <gtest/gtest.h>

namespace espalier::reconcile {
namespace {

Group group(const std::string& name, NodeType type, json::object lifecycle = {}) {
  Group out;
  out.name = name;
  out.type = type;
  out.instance_type = "ml.p5.48xlarge";
  out.partition = type == NodeType::Compute ? name : "";
  if (!lifecycle.empty()) out.spec["LifeCycleConfig"] = std::move(lifecycle);
  return out;
}

ClusterState cluster(int machines) {
  ClusterState state;
  state.cluster.id = ClusterId("abcdefghijkl");
  state.cluster.name = "demo";
  state.cluster.region = "us-west-2";
  state.cluster.account = "123456789012";
  for (const auto& [name, type] : std::map<std::string, NodeType>{
           {"ctl", NodeType::Controller}, {"login", NodeType::Login}, {"p5", NodeType::Compute}}) {
    state.groups[name] = group(name, type);
    for (int number = 1; number <= (type == NodeType::Compute ? machines : 1); ++number) {
      Slot slot;
      slot.id = SlotId(fmt::format("{}-{}", name, number));
      slot.group = name;
      slot.number = number;
      slot.node_name = slot.id.value;
      slot.machine.emplace();
      slot.machine->id = MachineId("i-" + slot.node_name);
      slot.machine->address = fmt::format("10.1.{}.{}", number / 250, number % 250);
      slot.machine->position.network_nodes = {"nn-1", "nn-2", "nn-3"};
      state.slots[slot.id] = slot;
    }
  }
  return state;
}

const json::value& at(const json::value& value, std::string_view pointer) { return value.at_pointer(pointer); }

TEST(Script, IsOneOfTheTwoHooks) {
  EXPECT_FALSE(script_of(group("a", NodeType::Compute)));
  EXPECT_FALSE(script_of(group("a", NodeType::Compute, {{"SourceS3Uri", "s3://bucket/x"}})));
  const auto create = script_of(group("a", NodeType::Compute, {{"SourceS3Uri", "s3://b/x"}, {"OnCreate", "a.sh"}}));
  ASSERT_TRUE(create);
  EXPECT_EQ(create->hook, agent::LifecycleHook::OnCreate);
  const auto init = script_of(group("a", NodeType::Compute, {{"SourceS3Uri", "s3://b/x"}, {"OnInitComplete", "b.sh"}}));
  ASSERT_TRUE(init);
  EXPECT_EQ(init->hook, agent::LifecycleHook::OnInitComplete);
  EXPECT_EQ(init->name, "b.sh");
}

TEST(ResourceConfig, NamesEveryMachineByGroup) {
  const ClusterState state = cluster(11);
  const auto config = parse_json(resource_config(state, state.slots.at(SlotId("p5-2"))));
  ASSERT_TRUE(config);
  EXPECT_EQ(at(*config, "/ClusterConfig/ClusterName"), "demo");
  EXPECT_EQ(at(*config, "/ClusterConfig/ClusterArn"), "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl");
  EXPECT_EQ(at(*config, "/ClusterType"), "Slurm");
  EXPECT_EQ(at(*config, "/SlurmConfig/PrimaryControllerIp"), "10.1.0.1");
  EXPECT_EQ(at(*config, "/InstanceGroups/2/Name"), "p5");
  EXPECT_EQ(at(*config, "/InstanceGroups/2/Instances").get_array().size(), 11U);
  EXPECT_EQ(at(*config, "/InstanceGroups/2/Instances/1/InstanceName"), "p5-2") << "not after p5-11";
  EXPECT_EQ(at(*config, "/InstanceGroups/2/Instances/1/InstanceId"), "i-p5-2");
  EXPECT_EQ(at(*config, "/InstanceGroups/2/Instances/1/InstanceLabel/network-node-layer-3"), "nn-3");
}

TEST(ResourceConfig, OfALargeClusterIsWholeOnTheControllerOnly) {
  const ClusterState state = cluster(static_cast<int>(kWholeConfig));
  const auto instances = [&](const char* reader) {
    const auto config = parse_json(resource_config(state, state.slots.at(SlotId(reader))));
    return at(*config, "/InstanceGroups/2/Instances").get_array().size();
  };
  EXPECT_EQ(instances("ctl-1"), kWholeConfig);
  EXPECT_EQ(instances("p5-7"), 1U);
  EXPECT_EQ(instances("login-1"), 0U);
}

TEST(ProvisioningParameters, SayWhichGroupIsWhat) {
  const auto parameters = parse_json(provisioning_parameters(cluster(1)));
  ASSERT_TRUE(parameters);
  EXPECT_EQ(at(*parameters, "/version"), "1.0.0");
  EXPECT_EQ(at(*parameters, "/workload_manager"), "slurm");
  EXPECT_EQ(at(*parameters, "/controller_group"), "ctl");
  EXPECT_EQ(at(*parameters, "/login_group"), "login");
  EXPECT_EQ(at(*parameters, "/worker_groups/0/partition_name"), "p5");
}

}  // namespace
}  // namespace espalier::reconcile
