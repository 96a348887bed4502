#include "reconcile/slurm/wanted.h"

#include <gmock/gmock.h>

namespace espalier::reconcile {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Group compute(const std::string& name, const char* type) {
  Group out;
  out.name = name;
  out.instance_type = type;
  out.partition = name;
  return out;
}

// A group of UltraServers in two racks, and p5 nodes without a machine.
ClusterState cluster(const std::string& slurm) {
  ClusterState out;
  out.cluster.name = "demo";
  out.slurm.version = slurm;
  out.groups["gb200"] = compute("gb200", "ml.p6e-gb200.36xlarge");
  out.groups["p5"] = compute("p5", "ml.p5.48xlarge");
  const auto add = [&](const std::string& group, int number, std::optional<Position> position) {
    Slot slot;
    slot.group = group;
    slot.number = number;
    slot.node_name = fmt::format("{}-{}", group, number);
    slot.id = SlotId(slot.node_name);
    slot.instance_type = out.groups[group].instance_type;
    slot.state = SlotState::Joining;
    slot.credential = "enrolled";
    if (position) slot.machine = Machine{MachineId("i-" + slot.node_name), "10.0.0.1", *position, "", {}, ""};
    out.slots[slot.id] = slot;
  };
  for (int i = 1; i <= 36; ++i) add("gb200", i, Position{{"nn-0", "nn-9"}, i % 2 == 0 ? "even" : "odd"});
  for (int i = 1; i <= 2; ++i) add("p5", i, std::nullopt);
  return out;
}

TEST(SlurmWanted, FollowsTheVersionOfTheController) {
  const auto old = slurm_wanted(cluster("24.11.5"), {}).target;
  EXPECT_THAT(old.files.at(slurm::kTopologyConf), HasSubstr("SwitchName=unplaced Nodes=p5-[1-2]\n"));
  EXPECT_EQ(old.files.count(slurm::kTopologyYaml), 0U);
  const auto next = slurm_wanted(cluster("26.05.5"), {}).target;
  EXPECT_EQ(next.files.count(slurm::kTopologyConf), 0U);
  EXPECT_THAT(next.files.at(slurm::kTopologyYaml), HasSubstr("- block: \"gb200-b2\"\n"));
  EXPECT_THAT(next.files.at(slurm::kPartitionsConf),
              HasSubstr("PartitionName=gb200 Nodes=gb200-[1-36] Topology=block"));
  EXPECT_THAT(next.files.at(slurm::kPartitionsConf), Not(HasSubstr("PartitionName=p5 Nodes=p5-[1-2] Topology")));
  EXPECT_EQ(slurm_wanted(cluster(""), {}).target.files, old.files) << "not said yet: that of our own image";
}

TEST(SlurmWanted, SaysNothingThatAnOlderReleaseDoesNotKnow) {
  auto state = cluster("26.05.5");
  state.groups["ctl"] = compute("ctl", "ml.c5.xlarge");
  state.groups["ctl"].type = NodeType::Controller;
  Slot controller;
  controller.id = SlotId("ctl-1");
  controller.group = "ctl";
  controller.machine = Machine{MachineId("i-ctl-1"), "10.0.0.9", {}, "", {}, ""};
  controller.machine->image = "the next one";
  state.slots[controller.id] = controller;
  state.slots.at(SlotId("gb200-1")).slurm = "24.11.5";  // the others have not said
  const auto during = slurm_wanted(state, {}).target.files;
  EXPECT_THAT(during.at(slurm::kTopologyPluginConf), HasSubstr("TopologyPlugin=topology/default\n"));
  EXPECT_THAT(during.at(slurm::kPartitionsConf), Not(HasSubstr("Topology=")));
  EXPECT_THAT(during.at(slurm::kTopologyYaml), HasSubstr("- topology: block\n"));
  for (auto& [id, slot] : state.slots)
    if (slot.machine) slot.machine->image = "the next one";
  state.slots.at(SlotId("gb200-1")).slurm.clear();
  const auto after = slurm_wanted(state, {}).target.files;
  EXPECT_THAT(after.at(slurm::kTopologyPluginConf), HasSubstr("TopologyPlugin=topology/tree\n"));
  EXPECT_THAT(after.at(slurm::kPartitionsConf), HasSubstr("Topology=block"));
}

// Images differ in much else.
TEST(SlurmWanted, AnotherImageWithTheSameSlurmChangesNothing) {
  Slot controller, slot;
  for (Slot* each : {&controller, &slot}) {
    each->machine = Machine{};
    each->credential = "enrolled";
    each->slurm = "26.05.5";
  }
  slot.machine->image = "the next one";
  EXPECT_FALSE(has_other_release(slot, controller));
  slot.slurm = "26.05.6";
  EXPECT_FALSE(has_other_release(slot, controller)) << "a patch brings no words";
  slot.slurm = "24.11.5";
  EXPECT_TRUE(has_other_release(slot, controller));
  slot.credential.clear();
  EXPECT_FALSE(has_other_release(slot, controller)) << "it reads no slurm.conf yet";
  slot.credential = "enrolled";
  slot.slurm.clear();
  EXPECT_TRUE(has_other_release(slot, controller)) << "what it has is not known: the image says";
}

TEST(SlurmWanted, KeepsTheBlocksOfDomains) {
  auto state = cluster("26.05.5");
  const auto first = slurm_wanted(state, {});
  ASSERT_THAT(first.target.blocks, SizeIs(2));
  EXPECT_EQ(first.target.blocks[0].domain, "odd");
  state.slurm.blocks = first.target.blocks;
  state.slots.at(SlotId("gb200-1")).machine->position.domain = "even";  // the first is another's now
  state.slots.at(SlotId("gb200-2")).machine->position.domain = "odd";
  const auto then = slurm_wanted(state, {});
  EXPECT_EQ(then.target.blocks, first.target.blocks);
  EXPECT_THAT(then.places.at("gb200-1"), HasSubstr("block:gb200-b2"));
}

// The machines of some slots, gone or elsewhere.
void expect_patched(const std::string& slurm, bool patched, const std::vector<std::string>& nodes,
                    const std::optional<Position>& position) {
  auto state = cluster(slurm);
  auto& p5 = state.slots.at(SlotId("p5-1"));
  p5.machine = Machine{MachineId("i-p5-1"), "10.0.0.2", Position{{"nn-0", "nn-5"}, ""}, "", {}, ""};
  auto wanted = slurm_wanted(state, {});
  state.slurm.blocks = wanted.target.blocks;
  topology::Patcher patcher(*wanted.request, wanted.plan, topology::Memory{wanted.target.blocks});
  std::set<SlotId> moved;
  for (const auto& node : nodes) {
    moved.insert(SlotId(node));
    if (position)
      state.slots.at(SlotId(node)).machine = Machine{MachineId("j-" + node), "10.0.0.3", *position, "", {}, ""};
    else
      state.slots.at(SlotId(node)).machine.reset();
  }
  ASSERT_EQ(patch_wanted(state, moved, patcher, wanted), patched) << slurm;
  if (!patched) return;
  const auto anew = slurm_wanted(state, {});
  EXPECT_EQ(wanted.target, anew.target) << slurm;
  EXPECT_EQ(wanted.places, anew.places) << slurm;
  EXPECT_EQ(wanted.machines, anew.machines) << slurm;
}

TEST(SlurmWanted, IsPatchedForAFewMachines) {
  for (const auto* slurm : {"24.11.5", "26.05.5"}) {
    const Position rack{{"nn-0", "nn-9"}, "odd"};
    expect_patched(slurm, true, {"gb200-7"}, rack);                          // another machine at the same place
    expect_patched(slurm, false, {"p5-1"}, std::nullopt);                    // its leaf would be empty
    expect_patched(slurm, false, {"p5-2"}, Position{{"nn-0", "nn-5"}, ""});  // none would be unplaced any more
  }
}

TEST(SlurmWanted, FollowsTheUser) {
  auto state = cluster("26.05.5");
  state.cluster.topology = "off";
  const auto off = slurm_wanted(state, {});
  EXPECT_EQ(off.plan.main().model, topology::Model::flat);
  EXPECT_TRUE(off.places.empty());
  EXPECT_EQ(off.target.files.count(slurm::kTopologyYaml), 0U);
}

// slurmctld has saved every node's places: it does not start when they name a topology that is gone.
TEST(SlurmWanted, ATopologyThatNodesAreSavedInStays) {
  auto state = cluster("26.05.5");
  const auto before = slurm_wanted(state, {});
  state.slurm.files = before.target.files;
  state.cluster.topology = "off";
  const auto off = slurm_wanted(state, {});
  EXPECT_EQ(off.plan.main().model, topology::Model::flat);
  EXPECT_THAT(
      off.target.files.at(slurm::kTopologyYaml),
      testing::AllOf(HasSubstr("- topology: flat\n  cluster_default: true\n"),
                     HasSubstr("- topology: tree\n  cluster_default: false\n"), HasSubstr("- topology: block\n")));
  EXPECT_EQ(off.places, before.places);
  state.slurm.version = "24.11.5";
  EXPECT_EQ(slurm_wanted(state, {}).target.files.count(slurm::kTopologyConf), 0U) << "nothing is saved there";
}

TEST(SlurmWanted, KeepsALeafThatANodeIsStillOn) {
  const auto state = cluster("26.05.5");
  topology::Plan tree{
      topology::Model::tree, "", {{"fabric", {"old", "x"}, {}}, {"old", {}, {"p5-1"}}, {"x", {}, {"p5-2"}}}};
  const auto wanted = slurm_wanted(state, {{"tree", true, tree}});
  EXPECT_THAT(wanted.target.files.at(slurm::kTopologyYaml), HasSubstr("- switch: \"old\"\n"));
}

}  // namespace
}  // namespace espalier::reconcile
