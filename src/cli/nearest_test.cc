#include "cli/nearest.h"

#include <gtest/gtest.h>

namespace espalier::cli {
namespace {

TEST(Nearest, FindsSlips) {
  EXPECT_EQ(nearest("dmeo", {"prod", "demo"}), "demo");
  EXPECT_EQ(nearest("worker1", {"worker-2", "worker-1"}), "worker-1");
  EXPECT_EQ(nearest("training-clsuter", {"training-cluster", "t"}), "training-cluster");
}

TEST(Nearest, DoesNotGuessWildly) {
  EXPECT_EQ(nearest("demo", {"production"}), std::nullopt);
  EXPECT_EQ(nearest("demo", {}), std::nullopt);
}

TEST(Nearest, Suggests) {
  EXPECT_EQ(suggestion("dmeo", {"demo"}), " Did you mean 'demo'?");
  EXPECT_EQ(suggestion("x", {"production", "training"}), " There are: production, training.");
  EXPECT_EQ(suggestion("x", {}), " There is none.");
  const std::vector<std::string> many(9, "production");
  EXPECT_TRUE(suggestion("x", many).ends_with(", ….")) << suggestion("x", many);
}

}  // namespace
}  // namespace espalier::cli
