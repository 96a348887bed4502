#include "provider/sim/fabric_model.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

namespace espalier::sim {
namespace {

std::vector<Position> place_all(const FabricModel& model, const std::string& type, int count) {
  std::vector<Position> taken;
  for (int i = 0; i < count; ++i) taken.push_back(model.place(type, taken));
  return taken;
}

std::map<std::string, int> per_leaf(const std::vector<Position>& positions) {
  std::map<std::string, int> out;
  for (const auto& p : positions) ++out[p.network_nodes.back()];
  return out;
}

TEST(FabricModel, GivesAsManyLayersAsTheTypeHas) {
  const FabricModel model;
  EXPECT_EQ(model.place("ml.p5.48xlarge", {}).network_nodes.size(), 3U);
  EXPECT_EQ(model.place("ml.p6-b200.48xlarge", {}).network_nodes.size(), 4U);
  EXPECT_EQ(model.place("ml.c5.4xlarge", {}), Position{});
  EXPECT_EQ(model.place("no.such.type", {}), Position{});
}

TEST(FabricModel, NamesAreShapedLikeTheClouds) {
  const auto position = FabricModel().place("ml.p6e-gb200.36xlarge", {});
  for (const auto& node : position.network_nodes)
    EXPECT_TRUE(std::regex_match(node, std::regex("nn-[0-9a-f]{17}"))) << node;
  EXPECT_TRUE(std::regex_match(position.domain, std::regex("us-[0-9a-f]{17}"))) << position.domain;
}

TEST(FabricModel, FillsEachSpineBeforeTheNextAndNoLeafTwice) {
  const auto positions = place_all(FabricModel(), "ml.p5.48xlarge", 32);
  for (const auto& [leaf, machines] : per_leaf(positions)) EXPECT_EQ(machines, 4) << leaf;
  std::set<std::string> roots, first_spine;
  for (const auto& p : positions) roots.insert(p.network_nodes[0]);
  for (int i = 0; i < 16; ++i) first_spine.insert(positions[static_cast<std::size_t>(i)].network_nodes[1]);
  EXPECT_EQ(roots.size(), 1U);
  EXPECT_EQ(first_spine.size(), 1U);
}

TEST(FabricModel, ScattersOverTheLeavesOfASpine) {
  const auto positions = place_all(FabricModel(), "ml.p5.48xlarge", 4);
  EXPECT_GT(per_leaf(positions).size(), 1U);
  const auto in_order = FabricModel::from_yaml("scatter: false");
  ASSERT_TRUE(in_order);
  EXPECT_EQ(per_leaf(place_all(*in_order, "ml.p5.48xlarge", 4)).size(), 1U);
}

TEST(FabricModel, IsTheSameAgainAndFreeSeatsAreUsedAgain) {
  auto taken = place_all(FabricModel(), "ml.p5.48xlarge", 20);
  EXPECT_EQ(taken, place_all(FabricModel(), "ml.p5.48xlarge", 20));
  const Position freed = taken[7];
  taken.erase(taken.begin() + 7);
  EXPECT_EQ(FabricModel().place("ml.p5.48xlarge", taken), freed);
  const auto other = FabricModel::from_yaml("seed: 2");
  ASSERT_TRUE(other);
  EXPECT_NE(other->place("ml.p5.48xlarge", {}), FabricModel().place("ml.p5.48xlarge", {}));
}

TEST(FabricModel, FillsUltraServersOneAfterTheOther) {
  const auto positions = place_all(FabricModel(), "ml.p6e-gb200.36xlarge", 40);
  std::vector<std::string> order;
  std::map<std::string, int> machines;
  for (const auto& p : positions)
    if (++machines[p.domain] == 1) order.push_back(p.domain);
  ASSERT_EQ(order.size(), 3U);
  EXPECT_EQ(machines[order[0]], 18);
  EXPECT_EQ(machines[order[1]], 18);
  EXPECT_EQ(machines[order[2]], 4);
}

TEST(FabricModel, TypesDoNotTakeEachOthersSeats) {
  auto taken = place_all(FabricModel(), "ml.p5.48xlarge", 16);
  const auto other = FabricModel().place("ml.p4d.24xlarge", taken);
  EXPECT_EQ(other, FabricModel().place("ml.p4d.24xlarge", {}));
  EXPECT_FALSE(per_leaf(taken).contains(other.network_nodes.back()));
}

TEST(FabricModel, AListOfLeavesIsUsedAsItIs) {
  const auto model = FabricModel::from_yaml(R"(
leaves:
  - {path: [core, spine, leaf-1], machines: 1, domain: nvl-1}
  - {path: [core, spine, leaf-2], machines: 2, instance_type: ml.p5.48xlarge}
)");
  ASSERT_TRUE(model) << model.error().message;
  const auto p5 = place_all(*model, "ml.p5.48xlarge", 4);
  EXPECT_EQ(p5[0], (Position{{"core", "spine", "leaf-1"}, "nvl-1"}));
  EXPECT_EQ(p5[1].network_nodes.back(), "leaf-2");
  EXPECT_EQ(p5[2].network_nodes.back(), "leaf-2");
  EXPECT_EQ(p5[3], Position{});
  EXPECT_EQ(place_all(*model, "ml.p4d.24xlarge", 2)[1], Position{});
}

TEST(FabricModel, ManyPlacesAtOnceAreThoseOfOneAfterTheOther) {
  for (const std::string text : {"seed: 3", "{leaf_size: 3, spine_size: 2}",
                                 "leaves: [{path: [a, b], machines: 2}, {path: [a, c], machines: 1}, {path: [a, b], "
                                 "machines: 4}]"})
    for (const std::string type : {"ml.p5.48xlarge", "ml.p6e-gb200.36xlarge"}) {
      const auto model = FabricModel::from_yaml(text);
      ASSERT_TRUE(model) << model.error().message;
      const auto one_by_one = place_all(*model, type, 7);
      const std::vector<Position> taken(one_by_one.begin(), one_by_one.begin() + 2);
      EXPECT_EQ(model->places(type, taken, 5), std::vector<Position>(one_by_one.begin() + 2, one_by_one.end()))
          << text << " " << type;
    }
  EXPECT_TRUE(FabricModel().places("ml.m5.large", {}, 5).empty());
}

TEST(FabricModel, RefusesWhatItCannotUseAndSaysWhere) {
  const std::map<std::string, std::string> wrong{
      {"leaf_size: 0", "leaf_size is 0"},
      {"leaf_size: many", "line 1: 'leaf_size'"},
      {"leafs: 3", "unknown member 'leafs'; there are seed, leaf_size,"},
      {"- 1", "a map was expected"},
      {"leaves: 3", "must be a list"},
      {"leaves: [3]", "a map was expected"},
      {"leaves: [{machines: 3}]", "needs a path"},
      {"leaves: [{path: [a], machines: 0}]", "'machines' of a leaf is 0"},
      {"leaves: [{path: [a], machines: 1, instance_type: p5}]", "unknown instance type 'p5'"},
      {"seed: [", "yaml-cpp"},
  };
  for (const auto& [text, message] : wrong) {
    const auto model = FabricModel::from_yaml(text);
    ASSERT_FALSE(model) << text;
    EXPECT_EQ(model.error().code, ErrorCode::kInvalid);
    EXPECT_NE(model.error().message.find(message), std::string::npos) << text << ": " << model.error().message;
  }
}

}  // namespace
}  // namespace espalier::sim
