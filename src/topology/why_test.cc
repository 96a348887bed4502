#include "topology/why.h"

#include <gmock/gmock.h>

namespace espalier::topology {
namespace {

using testing::ElementsAre;

Member member(const char* name, const char* type, std::optional<Position> position) {
  return {name, type, std::move(position), "g", 1};
}

std::vector<std::string> why(const Member& one, slurm::Version version = {26, 5, 5}) {
  Request request;
  request.version = version;
  request.members = {one, member("p5-9", "ml.p5.48xlarge", Position{{"nn-1", "nn-2"}, ""})};
  request.groups = {{"a", "a", {one.instance_type}}, {"p5", "p5", {"ml.p5.48xlarge"}}};
  Memory memory;
  return why_there(plan_cluster(request, memory), one);
}

TEST(WhyThere, SaysWhatIsKnownOfTheMachine) {
  EXPECT_THAT(why(member("p5-1", "ml.p5.48xlarge", Position{{"nn-1", "nn-3"}, ""})),
              ElementsAre("tree: on leaf nn-3, where its machine hangs (nn-1 / nn-3)"));
  EXPECT_THAT(why(member("p5-1", "ml.p5.48xlarge", std::nullopt)),
              ElementsAre("tree: on leaf unplaced, since it has no machine with a place yet"));
  EXPECT_THAT(why(member("c5-1", "ml.c5.4xlarge", std::nullopt)),
              ElementsAre("tree: on leaf off-fabric, since ml.c5.4xlarge has no known place in the network"));
}

TEST(WhyThere, HasASentenceForEachTopology) {
  EXPECT_THAT(why(member("g-1", "ml.p6e-gb200.36xlarge", Position{{"nn-1", "nn-4"}, "nvl-1"})),
              ElementsAre("tree: on leaf nn-4, where its machine hangs (nn-1 / nn-4)",
                          "block: in block g-b1, which the NVLink domain nvl-1 has"));
  EXPECT_THAT(why(member("g-1", "ml.p6e-gb200.36xlarge", std::nullopt)),
              ElementsAre("tree: on leaf unplaced, since it has no machine with a place yet",
                          "block: in block g-b1, its seat until the NVLink domain of a machine is known"));
}

TEST(WhyThere, ANodeOfAFlatClusterIsNowhere) {
  Request request;
  request.members = {member("c5-1", "ml.c5.4xlarge", std::nullopt)};
  Memory memory;
  EXPECT_THAT(why_there(plan_cluster(request, memory), request.members[0]),
              ElementsAre("in no topology: no instance type of this cluster has a known place in the network"));
}

}  // namespace
}  // namespace espalier::topology
