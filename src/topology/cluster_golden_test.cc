// Runs every tests/golden/cluster/*.txt: a version of Slurm and a cluster as text, then all that becomes of it. With
// ESPALIER_UPDATE_GOLDEN=1 the expected part is written anew: read the difference before you commit it. Real slurmctlds
// are asked when ESPALIER_NODE_IMAGE (24.11) and ESPALIER_NODE_IMAGE_26_05 name root file systems with one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/process.h"
#include "slurm/hostlist.h"
#include "topology/check.h"
#include "topology/compare.h"
#include "topology/fabric_text_test.h"

namespace espalier::topology {
namespace {

constexpr std::string_view kVersion = "# Slurm ", kResult = "--- ";

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(ESPALIER_CLUSTERS_FOLDER)) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

// Every group is a partition of its own.
Request read_request(const std::string& text) {
  Request out;
  out.version = *slurm::read_version(text.substr(text.find(kVersion) + kVersion.size(), 8));
  out.members = *read_fabric(text);
  for (const auto& member : out.members)
    if (std::ranges::find(out.groups, member.group, &GroupTypes::name) == out.groups.end())
      out.groups.push_back({member.group, member.group, {member.instance_type}});
  return out;
}

std::string section(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format("{}{}\n{}", kResult, name, text);
}

std::string told(const ClusterPlan& plan) {
  std::string out = fmt::format("{}: {}\n", enum_name(plan.main().model), plan.choice.because);
  for (const auto& [name, choice] : plan.choice.partitions) {
    const auto own = plan.partitions.find(name);
    const auto model = own == plan.partitions.end() ? "the default" : enum_name(own->second);
    out += fmt::format("partition {}: {}: {}\n", name, model, choice.because);
  }
  for (const auto& note : plan.notes) out += fmt::format("note: {}\n", note);
  for (const auto& [domain, nodes] : plan.nvlink_domains)
    out += fmt::format("nvlink {}: {}\n", domain, slurm::compress(nodes));
  return out;
}

class Cluster : public testing::TestWithParam<std::filesystem::path> {
 protected:
  void SetUp() override {
    const auto text = read_file(GetParam());
    ASSERT_TRUE(text) << text.error().message;
    given_ = text->substr(0, text->find(kResult));
    request_ = read_request(given_);
    Memory memory;
    plan_ = plan_cluster(request_, memory);
  }

  std::string given_;
  Request request_;
  ClusterPlan plan_;
};

TEST_P(Cluster, BecomesThat) {
  const auto files = render(plan_);
  const auto conf = fmt::format("TopologyPlugin={}\n{}", files.plugin,
                                files.param.empty() ? "" : fmt::format("TopologyParam={}\n", files.param));
  const auto now = fmt::format("{}{}{}{}{}{}", given_, section("why", told(plan_)), section("slurm.conf", conf),
                               section("topology.conf", files.conf), section("topology.yaml", files.yaml),
                               section("drawn", draw(plan_)));
  if (std::getenv("ESPALIER_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file(GetParam(), now));
  }
  EXPECT_EQ(now, *read_file(GetParam()));
  const auto ok = check(plan_, request_.members);
  EXPECT_TRUE(ok) << ok.error().message;
}

TEST_P(Cluster, IsTakenBySlurm) {
  const bool yaml = slurm::release_of(request_.version).topology_yaml;
  const char* image = std::getenv(yaml ? "ESPALIER_NODE_IMAGE_26_05" : "ESPALIER_NODE_IMAGE");
  if (image == nullptr || !slurm::release_of(request_.version).tried) GTEST_SKIP() << "there is no such Slurm here";
  if (plan_.main().model == Model::flat) GTEST_SKIP() << "flat: there is no file to ask about";
  const auto files = render(plan_);
  std::vector<std::string> names;
  for (const auto& member : request_.members) names.push_back(member.node_name);
  const auto file = std::filesystem::path(testing::TempDir()) /
                    fmt::format("{}.{}", GetParam().stem().string(), yaml ? "yaml" : "conf");
  ASSERT_TRUE(write_file(file, files.conf + files.yaml));
  const auto answer = run(
      {"/bin/bash", ESPALIER_ACCEPTS, image, file.string(), slurm::compress(names), slurm::compress(padding(plan_))});
  std::filesystem::remove(file);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->status, 0) << answer->err;
  const auto shown = read_shown(answer->out);
  ASSERT_TRUE(shown) << shown.error().message;
  const auto same = compare(plan_, *shown);
  EXPECT_TRUE(same) << same.error().message;
  EXPECT_EQ(places(*shown), places(plan_));
}

INSTANTIATE_TEST_SUITE_P(Topology, Cluster, testing::ValuesIn(files()), [](const auto& each) {
  auto name = each.param.stem().string();
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace
}  // namespace espalier::topology
