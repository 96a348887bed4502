// A cluster that changes at random, for the property tests.
#pragma once

#include <fmt/format.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "topology/cluster_plan.h"

namespace espalier::topology {

inline const char* const kTypes[] = {"ml.p5.48xlarge", "ml.p6e-gb200.36xlarge", "ml.c5.4xlarge"};
inline const char* const kGroups[] = {"p5", "gb200", "cpu"};

// The cluster as it truly is: slots, and where their machines hang.
class World {
 public:
  World(std::uint64_t seed, slurm::Version version) : random_(seed) {
    request_.version = version;
    for (int group = 0; group < 3; ++group) {
      present_[group] = random_.below(4) != 0;
      if (present_[group]) grow(group, 1 + random_.below(60));
    }
  }

  Request request(bool all_known) const {
    Request out = request_;
    for (int group = 0; group < 3; ++group)
      if (present_[group]) out.groups.push_back({kGroups[group], kGroups[group], {kTypes[group]}});
    for (auto& member : out.members)
      if (!all_known && unknown_.count(member.node_name) != 0) member.position.reset();
    return out;
  }

  // One thing happens.
  void change() {
    auto& members = request_.members;
    const auto what = random_.below(20);
    if (what == 0 || members.empty()) return grow_some();
    if (what == 1) return shrink();
    if (what == 2) return lose_rack();
    auto& member = members[random_.below(members.size())];
    unknown_.erase(member.node_name);
    if (what < 5) return member.position.reset();
    if (what < 8) unknown_.insert(member.node_name);  // it came, and nobody has said where
    member.position = place(member);
  }
  void tell_all() { unknown_.clear(); }

 private:
  std::optional<Position> place(const Member& member) {
    if (member.group == "cpu") return std::nullopt;
    const auto rack = random_.below(8);
    if (member.group == "p5")
      return Position{{"nn-0", fmt::format("nn-s{}", rack / 3), fmt::format("nn-l{}", rack)}, ""};
    if (of_domain(rack) >= kNominalBlock) return std::nullopt;  // a rack has no more than its machines
    return Position{{"nn-0", "nn-u", fmt::format("nn-u{}", rack)}, fmt::format("rack-{}", rack)};
  }

  int of_domain(std::uint64_t rack) const {
    const auto domain = fmt::format("rack-{}", rack);
    return static_cast<int>(std::ranges::count_if(
        request_.members, [&](const Member& m) { return m.position && m.position->domain == domain; }));
  }

  void grow(int group, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const int number = ++last_[group];
      request_.members.push_back(
          {fmt::format("{}-{}", kGroups[group], number), kTypes[group], std::nullopt, kGroups[group], number});
      if (random_.below(2) == 0) request_.members.back().position = place(request_.members.back());
    }
  }

  void grow_some() {
    const auto group = static_cast<int>(random_.below(3));
    present_[group] = true;
    grow(group, 1 + random_.below(20));
  }

  void shrink() {
    const auto group = static_cast<int>(random_.below(3));
    for (auto count = random_.below(20); count > 0 && last_[group] > 0; --count) {
      const auto name = fmt::format("{}-{}", kGroups[group], last_[group]--);
      std::erase_if(request_.members, [&](const Member& m) { return m.node_name == name; });
    }
  }

  void lose_rack() {
    const auto leaf = fmt::format("nn-{}{}", random_.below(2) == 0 ? "l" : "u", random_.below(8));
    for (auto& member : request_.members)
      if (member.position && member.position->network_nodes.back() == leaf) member.position.reset();
  }

  Random random_;
  Request request_;
  std::set<std::string> unknown_;
  bool present_[3] = {};
  int last_[3] = {};
};

inline rc::Gen<slurm::Version> any_version() {
  std::vector<slurm::Version> all;
  for (const auto& release : slurm::releases()) all.push_back(release.from);
  return rc::gen::elementOf(all);
}

}  // namespace espalier::topology
