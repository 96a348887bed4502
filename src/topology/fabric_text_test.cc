#include "topology/fabric_text_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "slurm/hostlist.h"

namespace espalier::topology {
namespace {

constexpr std::string_view kDomain = "domain=";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

std::vector<std::string> nodes_below(const Plan& plan, const std::string& name) {
  for (const auto& line : plan.switches) {
    if (line.name != name) continue;
    auto out = line.nodes;
    for (const auto& child : line.switches)
      for (auto& node : nodes_below(plan, child)) out.push_back(std::move(node));
    return out;
  }
  return {};
}

// "gb200-7" is slot 7 of group gb200.
Member member_of(const std::string& name, const std::vector<std::string>& words) {
  Member out{name, words[1], std::nullopt};
  if (const auto dash = name.rfind('-'); dash != std::string::npos) {
    out.group = name.substr(0, dash);
    out.number = std::atoi(name.c_str() + dash + 1);
  }
  if (words[2] == "-") return out;
  out.position.emplace();
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i].starts_with(kDomain))
      out.position->domain = words[i].substr(kDomain.size());
    else
      out.position->network_nodes.push_back(words[i]);
  }
  return out;
}

}  // namespace

Result<std::vector<Member>> read_fabric(std::string_view text) {
  std::vector<Member> out;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    const auto words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words.size() < 3) return fail(ErrorCode::kInvalid, "'{}': nodes, type and network nodes are needed", line);
    const auto names = slurm::expand(words[0]);
    if (!names) return tl::unexpected(names.error());
    for (const auto& name : *names) out.push_back(member_of(name, words));
  }
  return out;
}

std::string shown_by_slurm(const Plan& plan) {
  std::string out;
  for (const auto& line : plan.switches) {
    out += fmt::format("SwitchName={} Level={} LinkSpeed=1 Nodes={}", line.name, line.switches.empty() ? 0 : 1,
                       slurm::compress(nodes_below(plan, line.name)));
    if (!line.switches.empty()) out += " Switches=" + slurm::compress(line.switches);
    out += "\n";
  }
  return out;
}

TEST(FabricText, RefusesALineThatSaysTooLittle) { EXPECT_FALSE(read_fabric("p5-1 ml.p5.48xlarge\n")); }

}  // namespace espalier::topology
