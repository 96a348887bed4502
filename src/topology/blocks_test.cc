#include "topology/blocks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "slurm/hostlist.h"

namespace espalier::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Members = std::vector<Member>;

constexpr slurm::Version k2311{23, 11, 0}, k2411{24, 11, 5}, k2605{26, 5, 5};
const char* const kUltra = "ml.p6e-gb200.36xlarge";

Members slots(const std::string& group, int count) {
  Members out;
  for (int i = 1; i <= count; ++i) out.push_back({fmt::format("{}-{}", group, i), kUltra, std::nullopt, group, i});
  return out;
}

void locate(Members& members, int number, const std::string& domain) {
  members[static_cast<std::size_t>(number - 1)].position = Position{{"nn-0", "nn-1"}, domain};
}

struct Made {
  Plan plan;
  std::vector<std::string> notes;
};

Made made(const Members& members, Memory& memory, slurm::Version version = k2605) {
  Made out;
  out.plan = plan_blocks(members, "", block_rules(version), memory, out.notes);
  return out;
}

// "b1=g-[1-18] b2=g-[19-20]+16": name, nodes, padding.
std::string text(const Plan& plan) {
  std::string out;
  for (const auto& block : plan.blocks) {
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", block.name, slurm::compress(block.nodes));
    if (!block.padding.empty()) out += fmt::format("+{}", block.padding.size());
  }
  return out;
}

TEST(Blocks, SeatEverySlotFromItsDeclaration) {
  Memory memory;
  EXPECT_EQ(text(made(slots("g", 36), memory).plan), "g-b1=g-[1-18] g-b2=g-[19-36]");
}

TEST(Blocks, PadShortOnesWhereSlurmNeedsFullOnes) {
  Memory memory;
  const auto plan = made(slots("g", 20), memory, k2411).plan;
  EXPECT_EQ(text(plan), "g-b1=g-[1-18] g-b2=g-[19-20]+16");
  EXPECT_EQ(plan.blocks[1].padding.front(), "pad_g-b2_1");
  EXPECT_EQ(text(made(slots("g", 20), memory, k2605).plan), "g-b1=g-[1-18] g-b2=g-[19-20]");
}

TEST(Blocks, BindADomainToTheBlockOfItsFirstMachine) {
  auto members = slots("g", 36);
  Memory memory;
  locate(members, 19, "rack-a");
  const auto before = text(made(members, memory).plan);
  EXPECT_EQ(before, "g-b1=g-[1-18] g-b2=g-[19-36]");
  EXPECT_EQ(memory.blocks[1].domain, "rack-a");
  locate(members, 20, "rack-a");
  locate(members, 1, "rack-b");
  EXPECT_EQ(text(made(members, memory).plan), before);
  EXPECT_EQ(memory.blocks[0].domain, "rack-b");
}

TEST(Blocks, SitAMachineInTheBlockOfItsDomainWhateverItsSlot) {
  auto members = slots("g", 36);
  Memory memory;
  locate(members, 1, "rack-a");
  locate(members, 19, "rack-a");
  // Slot 19 is in rack-a; the slot that it pushes out is one that still waits.
  EXPECT_EQ(text(made(members, memory).plan), "g-b1=g-[1-17,19] g-b2=g-[18,20-36]");
}

TEST(Blocks, MakeOneMoreWhenMachinesAreSpreadOverMoreDomainsThanBlocks) {
  auto members = slots("g", 36);
  Memory memory;
  for (int i = 1; i <= 36; ++i) locate(members, i, fmt::format("rack-{}", i % 3));
  const auto plan = made(members, memory, k2411).plan;
  ASSERT_EQ(plan.blocks.size(), 3U);
  for (const auto& block : plan.blocks) {
    EXPECT_EQ(block.nodes.size(), 12U);
    EXPECT_EQ(block.padding.size(), 6U);
  }
}

TEST(Blocks, GiveABlockWhoseDomainIsGoneToAnother) {
  auto members = slots("g", 36);
  Memory memory;
  locate(members, 1, "rack-a");
  locate(members, 19, "rack-b");
  made(members, memory);
  members[0].position.reset();
  made(members, memory);
  EXPECT_EQ(memory.blocks[0].domain, "rack-a") << "it may come back";
  locate(members, 20, "rack-c");
  EXPECT_EQ(text(made(members, memory).plan), "g-b1=g-[1-17,20] g-b2=g-[18-19,21-36]");
  EXPECT_EQ(memory.blocks[0].domain, "rack-c");
}

TEST(Blocks, TakeUnknownDomainsForUnknown) {
  auto members = slots("g", 18);
  Memory memory;
  for (int i = 1; i <= 3; ++i) locate(members, i, std::vector<std::string>{"null", "N/A", ""}[i - 1]);
  made(members, memory);
  EXPECT_EQ(memory.blocks[0].domain, "");
  EXPECT_THAT(nvlink_domains(members), IsEmpty());
}

TEST(Blocks, KeepTheirOrderWhenGroupsGrowAndShrink) {
  Memory memory;
  auto members = slots("b", 18);
  made(members, memory);
  const auto more = slots("a", 36);
  members.insert(members.end(), more.begin(), more.end());
  EXPECT_EQ(text(made(members, memory).plan), "b-b1=b-[1-18] a-b1=a-[1-18] a-b2=a-[19-36]");
  // b is gone: its place stays. On 24.11 names that no machine has hold it.
  EXPECT_EQ(text(made(more, memory).plan), "b-b1= a-b1=a-[1-18] a-b2=a-[19-36]");
  EXPECT_EQ(text(made(more, memory, k2411).plan), "b-b1=+18 a-b1=a-[1-18] a-b2=a-[19-36]");
  // At the end nothing is held.
  EXPECT_EQ(text(made(slots("a", 18), memory).plan), "b-b1= a-b1=a-[1-18]");
}

TEST(Blocks, SayWhenADomainIsLargerThanABlock) {
  auto members = slots("g", 20);
  Memory memory;
  for (int i = 1; i <= 20; ++i) locate(members, i, "all-the-same");
  const auto out = made(members, memory);
  EXPECT_EQ(text(out.plan), "g-b1=g-[1-18] g-b2=g-[19-20]");
  EXPECT_THAT(out.notes, ElementsAre(HasSubstr("2 machines more")));
}

TEST(Blocks, PutMachinesWithoutNvlinkIntoABlockOfTheirOwn) {
  auto members = slots("g", 18);
  for (int i = 1; i <= 40; ++i) members.push_back({fmt::format("c-{}", i), "ml.c5.4xlarge", std::nullopt, "c", i});
  Memory memory;
  EXPECT_EQ(text(made(members, memory, k2605).plan), "g-b1=g-[1-18] off-fabric=c-[1-40]");
  EXPECT_EQ(text(made(members, memory, k2411).plan), "g-b1=g-[1-18] off-fabric=c-[1-40]");
  EXPECT_EQ(text(made(members, memory, k2311).plan),
            "g-b1=g-[1-18] off-fabric-1=c-[1-18] off-fabric-2=c-[19-36] off-fabric-3=c-[37-40]+14");
}

TEST(Blocks, HaveAnAggregateThatHoldsAll) {
  const auto sizes = [](int count, slurm::Version version, int others = 0) {
    auto members = slots("g", count);
    for (int i = 1; i <= others; ++i) members.push_back({fmt::format("c-{}", i), "ml.c5.4xlarge", std::nullopt});
    Memory memory;
    return made(members, memory, version).plan.block_sizes;
  };
  EXPECT_THAT(sizes(17, k2411), ElementsAre(18));
  EXPECT_THAT(sizes(36, k2411), ElementsAre(18, 36));
  EXPECT_THAT(sizes(71, k2605), ElementsAre(18, 36, 72));
  // Numbers of racks that are no power of two: a job of all nodes is larger than the last aggregate that is full.
  EXPECT_THAT(sizes(40, k2411), ElementsAre(18, 36, 72));
  EXPECT_THAT(sizes(54, k2605), ElementsAre(18, 36, 72));
  EXPECT_THAT(sizes(126, k2411), ElementsAre(18, 36, 72, 144));
  EXPECT_THAT(sizes(36, k2411, 2), ElementsAre(18, 36, 72));
  EXPECT_THAT(sizes(36, k2411, 40), ElementsAre(18, 36, 72, 144));
  EXPECT_THAT(sizes(36, k2605, 40), ElementsAre(18, 36, 72, 144));
}

TEST(Blocks, OfNodesThatAreNotOursAreTheirDomains) {
  Members members;
  for (int i = 0; i < 36; ++i)
    members.push_back({fmt::format("node{:02}", i), "", Position{{}, i % 2 == 0 ? "even" : "odd.1"}});
  Memory memory;
  const auto plan = made(members, memory).plan;
  ASSERT_EQ(plan.blocks.size(), 2U);
  EXPECT_EQ(plan.blocks[0].name, "even");
  EXPECT_EQ(plan.blocks[1].nodes.front(), "node01");
}

TEST(NvlinkDomains, ListTheirNodes) {
  auto members = slots("g", 20);
  locate(members, 10, "rack-a");
  locate(members, 9, "rack-a");
  locate(members, 2, "rack-b");
  EXPECT_THAT(nvlink_domains(members).at("rack-a"), ElementsAre("g-9", "g-10"));
  EXPECT_THAT(nvlink_domains(members).at("rack-b"), ElementsAre("g-2"));
}

TEST(Memory, IsKeptAsJson) {
  auto members = slots("g", 36);
  Memory memory;
  locate(members, 19, "rack-a");
  made(members, memory);
  EXPECT_EQ(*from_json<Memory>(to_json(memory)), memory);
}

}  // namespace
}  // namespace espalier::topology
