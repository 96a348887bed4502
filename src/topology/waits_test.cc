#include "topology/waits.h"

#include <gmock/gmock.h>

namespace espalier::topology {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Is = NodeNow::Is;

slurm::Job job(int nodes) {
  slurm::Job out;
  out.id = "7";
  out.state = "PENDING";
  out.reason = "Resources";
  out.partition = "nvl";
  out.nodes = nodes;
  return out;
}

// Blocks (or leaves) of 18, of which so many nodes are idle and the rest are still to come.
struct Racks {
  Plan plan;
  std::vector<NodeNow> nodes;
};
Racks racks(const std::vector<int>& idle, Model model = Model::block) {
  Racks out;
  out.plan.model = model;
  for (std::size_t rack = 0; rack < idle.size(); ++rack) {
    std::vector<std::string> names;
    for (int i = 1; i <= 18; ++i) {
      names.push_back(fmt::format("g-{}", 18 * rack + static_cast<std::size_t>(i)));
      const bool is_idle = i <= idle[rack];
      out.nodes.push_back({names.back(), is_idle ? Is::idle : Is::coming, is_idle ? "" : "Booting: no call yet"});
    }
    if (model == Model::block)
      out.plan.blocks.push_back({fmt::format("b{}", rack + 1), names, {}});
    else
      out.plan.switches.push_back({fmt::format("leaf{}", rack + 1), {}, names});
  }
  if (model == Model::block) out.plan.block_sizes = {18, 36};
  return out;
}

Wait why(const slurm::Job& one, const Racks& in) { return explain_wait(one, in.plan, in.nodes); }

TEST(Waits, NoDomainHasThatManyButSegmentsWouldFit) {
  const auto said = why(job(16), racks({12, 12}));
  EXPECT_EQ(said.because.at(0), "no NVLink domain has 16 free: the most are 12, in block b1");
  EXPECT_THAT(said.would_run, ElementsAre("--segment=8", "-N12"));
}

TEST(Waits, SegmentsThatDoNotFitGetSmaller) {
  auto asked = job(16);
  asked.segment = 16;
  const auto said = why(asked, racks({12, 9}));
  EXPECT_THAT(said.because, ElementsAre(HasSubstr("have 0 of the 1 segments of 16 free")));
  EXPECT_THAT(said.would_run, Contains("--segment=8"));
}

TEST(Waits, AggregatesAreNeighbours) {
  EXPECT_THAT(why(job(30), racks({18, 4, 4, 18})).because.at(0),
              StartsWith("no neighbouring NVLink domains have 30 free together: the most are 22"));
  EXPECT_THAT(why(job(30), racks({18, 4, 16, 16})).because, ElementsAre(HasSubstr("enough nodes are idle")));
}

TEST(Waits, ForNodesStillToCome) {
  auto in = racks({3}, Model::tree);
  in.nodes[17] = {"g-18", Is::out, "drained: bad fan"};
  in.nodes[2].is = Is::busy;
  const auto said = why(job(8), in);
  EXPECT_THAT(said.because,
              ElementsAre("it needs 8 nodes: 2 are idle, 1 have jobs, 14 are still to come, 1 are out of use",
                          "g-[4-17]: Booting: no call yet", "g-18: drained: bad fan"));
  EXPECT_THAT(said.would_run, ElementsAre("-N2"));
}

TEST(Waits, ForALeaf) {
  auto asked = job(16);
  asked.switches = 1;
  const auto said = why(asked, racks({12, 12}, Model::tree));
  EXPECT_THAT(said.because, ElementsAre(HasSubstr("on 2 leaves at least, and it wants 1")));
  EXPECT_THAT(said.would_run, ElementsAre("--switches=2", "-N12"));
}

TEST(Waits, ForMoreThanThereIs) {
  const auto said = why(job(40), racks({18, 18}));
  EXPECT_THAT(said.because.at(0), "it asks for 40 nodes, and partition nvl has 36 for it");
  EXPECT_THAT(said.would_run, Contains("-N36"));
}

TEST(Waits, ForSomethingElse) {
  auto asked = job(2);
  asked.reason = "Dependency";
  asked.dependency = "afterok:5(unfulfilled)";
  EXPECT_THAT(why(asked, racks({18})).because, ElementsAre("it waits for other jobs: afterok:5(unfulfilled)"));
  asked.reason = "Priority";
  EXPECT_THAT(why(asked, racks({18})).because, ElementsAre(HasSubstr("higher priority")));
  EXPECT_THAT(why(asked, racks({18})).would_run, IsEmpty());
  asked.state = "RUNNING";
  asked.node_list = "g-[1-2]";
  EXPECT_THAT(why(asked, racks({18})).because, ElementsAre("it does not wait: it is RUNNING g-[1-2]"));
}

TEST(Waits, NodesThatItExcludesDoNotCount) {
  auto asked = job(2);
  asked.not_on = {"g-1"};
  EXPECT_THAT(why(asked, racks({2}, Model::tree)).because.at(0), StartsWith("it needs 2 nodes: 1 are idle"));
}

}  // namespace
}  // namespace espalier::topology
