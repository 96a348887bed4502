#include "reconcile/cluster/tags.h"

#include <gtest/gtest.h>

namespace espalier::reconcile {
namespace {

json::object with(Tags tags) { return {{"Tags", to_wire(tags)}}; }

TEST(Tags, SetDeleteAndReplace) {
  ClusterChange change;
  change.tags = {{"team", "vision"}, {"cost", "7"}};
  change.tags_to_delete = {"old", "never there"};
  EXPECT_EQ(changed_tags(with({{"old", "1"}, {"team", "speech"}}), change).value(),
            (Tags{{"cost", "7"}, {"team", "vision"}}));
}

TEST(Tags, NoneAtFirst) { EXPECT_TRUE(changed_tags({}, {}).value().empty()); }

TEST(Tags, FiftyAreTheLimit) {
  ClusterChange change;
  for (int i = 0; i < 50; ++i) change.tags["key-" + std::to_string(i)] = "";
  EXPECT_EQ(changed_tags({}, change)->size(), 50u);
  EXPECT_EQ(changed_tags(with({{"another", ""}}), change).error().code, ErrorCode::kLimit);
  change.tags_to_delete = {"another"};
  EXPECT_TRUE(changed_tags(with({{"another", ""}}), change));
}

}  // namespace
}  // namespace espalier::reconcile
