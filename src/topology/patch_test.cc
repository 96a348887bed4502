// Plans that were patched, one node after the other, against plans made anew.
#include "topology/patch.h"

#include <gmock/gmock.h>

#include "topology/random_cluster_test.h"

namespace espalier::topology {
namespace {

bool same_members(const Request& a, const Request& b) {
  return a.groups.size() == b.groups.size() &&
         std::ranges::equal(a.members, b.members, {}, &Member::node_name, &Member::node_name);
}

// A plan that is kept up to date by patches as far as they go.
class Kept {
 public:
  explicit Kept(const Request& request) { anew(request); }

  void follow(const Request& request) {
    if (!same_members(request_, request)) return anew(request);
    for (std::size_t i = 0; i < request.members.size(); ++i) {
      const auto& now = request.members[i];
      if (now.position == request_.members[i].position) continue;
      request_.members[i] = now;
      const auto before = render(plan_);
      if (patcher_->move(now, plan_, files_)) {
        ++patches;
        continue;
      }
      RC_ASSERT(render(plan_) == before);
      anew(request_);
    }
  }

  void agrees_with_a_plan_made_anew() {
    auto memory = memory_;
    const auto plan = plan_cluster(request_, memory);
    RC_ASSERT(memory == memory_);
    RC_ASSERT(files_ == render(plan));
    RC_ASSERT(render(plan_) == files_);
    RC_ASSERT(plan_.nvlink_domains == plan.nvlink_domains);
    const auto all = places(plan);
    RC_ASSERT(places(plan_) == all);
    for (const auto& [node, place] : all) RC_ASSERT(patcher_->place_of(node, plan_) == place);
  }

  std::size_t patches = 0, plans = 0;

 private:
  void anew(const Request& request) {
    request_ = request;
    plan_ = plan_cluster(request_, memory_);
    files_ = render(plan_);
    patcher_.emplace(request_, plan_, memory_);
    ++plans;
  }

  Request request_;
  Memory memory_;
  ClusterPlan plan_;
  TopologyFiles files_;
  std::optional<Patcher> patcher_;
};

RC_GTEST_PROP(PatchProperty, PatchedPlansAreThoseMadeAnew, ()) {
  World world(*rc::gen::arbitrary<std::uint32_t>(), *any_version());
  Kept kept(world.request(false));
  for (int i = 0; i < 30; ++i) {
    world.change();
    kept.follow(world.request(false));
    kept.agrees_with_a_plan_made_anew();
  }
  RC_CLASSIFY(kept.patches > kept.plans, "more patches than plans");
}

Member p5(int number, std::vector<std::string> path) {
  return {fmt::format("p5-{}", number), "ml.p5.48xlarge", Position{std::move(path), ""}, "p5", number};
}

// What the property seldom meets.
struct Patched {
  explicit Patched(const std::vector<Member>& members) {
    request.members = members;
    request.groups = {{"p5", "p5", {"ml.p5.48xlarge"}}};
    plan = plan_cluster(request, memory);
    files = render(plan);
    patcher.emplace(request, plan, memory);
  }
  bool move(const Member& now) { return patcher->move(now, plan, files); }
  Request request;
  Memory memory;
  ClusterPlan plan;
  TopologyFiles files;
  std::optional<Patcher> patcher;
};

TEST(Patch, AMoveBetweenLeavesThatStay) {
  Patched made({p5(1, {"s", "a"}), p5(2, {"s", "a"}), p5(3, {"s", "b"})});
  ASSERT_TRUE(made.move(p5(2, {"s", "b"})));
  EXPECT_THAT(made.files.conf, testing::HasSubstr("SwitchName=a Nodes=p5-1\nSwitchName=b Nodes=p5-[2-3]\n"));
  EXPECT_EQ(made.patcher->place_of("p5-2", made.plan), "tree:b");
}

TEST(Patch, WhatMakesOrEndsALeafIsPlannedAnew) {
  Patched made({p5(1, {"s", "a"}), p5(2, {"s", "a"}), p5(3, {"s", "b"})});
  EXPECT_FALSE(made.move(p5(3, {"s", "a"}))) << "b would be empty";
  EXPECT_FALSE(made.move(p5(2, {"s", "c"}))) << "c is new";
  EXPECT_FALSE(made.move({"p5-2", "ml.p5.48xlarge", std::nullopt, "p5", 2})) << "unplaced is new";
  EXPECT_FALSE(made.move(p5(9, {"s", "a"}))) << "nobody knows p5-9";
}

TEST(Patch, WhereMachinesContradictEachOtherAllAreAsked) {
  Patched made({p5(1, {"s", "a"}), p5(2, {"s", "a"}), p5(3, {"s", "b"}), p5(4, {"b", "s", "b"})});
  EXPECT_FALSE(made.move(p5(2, {"s", "b"})));
}

}  // namespace
}  // namespace espalier::topology
