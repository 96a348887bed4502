#include "provider/sim/fabric_model.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/random.h"
#include "provider/sim/yaml.h"

namespace espalier::sim {

namespace {

// FNV-1a with a final mix: the same on every machine and in every version, unlike std::hash.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  return h ^ (h >> 31);
}

// Two positions are on the same leaf when their last network node and their domain agree.
using LeafKey = std::pair<std::string, std::string>;
LeafKey leaf_of(const Position& position) {
  return {position.network_nodes.empty() ? "" : position.network_nodes.back(), position.domain};
}

std::map<LeafKey, int> count_by_leaf(const std::vector<Position>& taken) {
  std::map<LeafKey, int> counts;
  for (const Position& position : taken) ++counts[leaf_of(position)];
  return counts;
}

Result<void> at_least_one(int value, const char* name) {
  constexpr int kMost = 1024;
  if (value >= 1 && value <= kMost) return {};
  return fail(ErrorCode::kInvalid, "{} is {}: it must be 1 to {}", name, value, kMost);
}

Result<Leaf> read_leaf(const YAML::Node& node) {
  Leaf leaf;
  auto ok = check_members(node, {"path", "machines", "domain", "instance_type"})
                .and_then([&] { return read_member(node, "path", leaf.position.network_nodes); })
                .and_then([&] { return read_member(node, "machines", leaf.machines); })
                .and_then([&] { return read_member(node, "domain", leaf.position.domain); })
                .and_then([&] { return read_member(node, "instance_type", leaf.instance_type); })
                .and_then([&] { return at_least_one(leaf.machines, "'machines' of a leaf"); });
  if (!ok) return tl::unexpected(ok.error());
  const int line = node.Mark().line + 1;
  if (leaf.position.network_nodes.empty())
    return fail(ErrorCode::kInvalid, "line {}: a leaf needs a path, root first", line);
  if (!leaf.instance_type.empty() && find_instance_type(leaf.instance_type) == nullptr)
    return fail(ErrorCode::kInvalid, "line {}: unknown instance type '{}'", line, leaf.instance_type);
  return leaf;
}

}  // namespace

Result<FabricModel> FabricModel::from_yaml(const std::string& text) { return parse_yaml_map(text).and_then(from_map); }

Result<FabricModel> FabricModel::from_map(const YAML::Node& map) {
  FabricModel model;
  auto ok = check_members(map, {"seed", "leaf_size", "spine_size", "domain_size", "scatter", "leaves"})
                .and_then([&] { return read_member(map, "seed", model.seed_); })
                .and_then([&] { return read_member(map, "leaf_size", model.leaf_size_); })
                .and_then([&] { return read_member(map, "spine_size", model.spine_size_); })
                .and_then([&] { return read_member(map, "domain_size", model.domain_size_); })
                .and_then([&] { return read_member(map, "scatter", model.scatter_); })
                .and_then([&] { return at_least_one(model.leaf_size_, "leaf_size"); })
                .and_then([&] { return at_least_one(model.spine_size_, "spine_size"); })
                .and_then([&] { return at_least_one(model.domain_size_, "domain_size"); });
  if (!ok) return tl::unexpected(ok.error());
  const YAML::Node leaves = map["leaves"];
  if (leaves && !leaves.IsSequence())
    return fail(ErrorCode::kInvalid, "line {}: 'leaves' must be a list", leaves.Mark().line + 1);
  for (const auto& node : leaves) {
    auto leaf = read_leaf(node);
    if (!leaf) return tl::unexpected(leaf.error());
    model.leaves_.push_back(std::move(*leaf));
  }
  return model;
}

Position FabricModel::place(const std::string& instance_type, const std::vector<Position>& taken) const {
  const auto next = places(instance_type, taken, 1);
  return next.empty() ? Position{} : next.front();
}

std::vector<Position> FabricModel::places(const std::string& instance_type, const std::vector<Position>& taken,
                                          int count) const {
  const InstanceType* type = find_instance_type(instance_type);
  if (type == nullptr || type->network_layers == 0) return {};
  const auto wanted = static_cast<std::size_t>(std::max(0, count));
  if (!leaves_.empty()) return places_in_list(instance_type, taken, wanted);

  std::vector<Position> out;
  auto in_use = count_by_leaf(taken);
  const bool domains = type->topology == TopologyClass::block;
  const int seats = domains ? domain_size_ : leaf_size_;
  // Walks the seats in their order; a seat is taken while its leaf holds as many machines as were walked past on it.
  for (int spine = 0; out.size() < wanted; ++spine) {
    std::vector<Position> positions;
    for (int i = 0; i < spine_size_; ++i)
      positions.push_back(regular_leaf(instance_type, *type, spine * spine_size_ + i));
    const auto order = domains ? std::vector<int>() : seat_order(spine, seats);
    for (int seat = 0; seat < spine_size_ * seats && out.size() < wanted; ++seat) {
      const Position& position = positions[static_cast<std::size_t>(domains ? seat / seats : order[seat])];
      if (in_use[leaf_of(position)]-- <= 0) out.push_back(position);
    }
  }
  return out;
}

std::vector<Position> FabricModel::places_in_list(const std::string& instance_type, const std::vector<Position>& taken,
                                                  std::size_t count) const {
  std::vector<Position> out;
  auto in_use = count_by_leaf(taken);
  for (const Leaf& leaf : leaves_) {
    if (!leaf.instance_type.empty() && leaf.instance_type != instance_type) continue;
    int& used = in_use[leaf_of(leaf.position)];
    const int here = std::min(used, leaf.machines);
    used -= here;  // the same leaf may be listed again, for another type
    for (int seat = here; seat < leaf.machines && out.size() < count; ++seat) out.push_back(leaf.position);
  }
  return out;
}

Position FabricModel::regular_leaf(const std::string& instance_type, const InstanceType& type, int leaf) const {
  // Layers from the root: one core for all types, one aggregate for each type where there are four, spines, leaves.
  Position position;
  position.network_nodes.push_back(name("nn-", "core", 0));
  for (int layer = 4; layer <= type.network_layers; ++layer)
    position.network_nodes.push_back(name("nn-", instance_type + " aggregate", layer));
  position.network_nodes.push_back(name("nn-", instance_type + " spine", leaf / spine_size_));
  position.network_nodes.push_back(name("nn-", instance_type + " leaf", leaf));
  if (type.topology == TopologyClass::block) position.domain = name("us-", instance_type + " domain", leaf);
  return position;
}

std::string FabricModel::name(std::string_view prefix, std::string_view what, int index) const {
  const auto text = fmt::format("{} {} {}", seed_, what, index);
  return fmt::format("{}{:016x}{:x}", prefix, hash(text), hash(text + "+") & 0xf);
}

std::vector<int> FabricModel::seat_order(int spine, int seats_per_leaf) const {
  std::vector<int> order(static_cast<std::size_t>(spine_size_ * seats_per_leaf));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i) / seats_per_leaf;
  if (!scatter_) return order;
  Random random(hash(fmt::format("{} seats {}", seed_, spine)));
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.next() % (i + 1)]);
  return order;
}

}  // namespace espalier::sim
