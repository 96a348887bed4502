// Runs every tests/golden/topology/*.txt: a fabric as text, then what becomes of it. With ESPALIER_UPDATE_GOLDEN=1 the
// expected part is written anew: read the difference before you commit it.
// ESPALIER_GOLDEN_FOLDER and ESPALIER_ACCEPTS are set by CMake.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/process.h"
#include "slurm/hostlist.h"
#include "topology/fabric_text_test.h"

namespace espalier::topology {
namespace {

constexpr std::string_view kConf = "--- topology.conf\n";
constexpr std::string_view kDrawn = "--- drawn\n";

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(ESPALIER_GOLDEN_FOLDER)) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

class Golden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, BecomesThatTopology) {
  const auto text = read_file(GetParam());
  ASSERT_TRUE(text) << text.error().message;
  const auto fabric = text->substr(0, text->find(kConf));
  const auto members = read_fabric(fabric);
  ASSERT_TRUE(members) << members.error().message;
  const auto made = plan(*members);
  const auto now = fmt::format("{}{}{}{}{}", fabric, kConf, render(made), kDrawn, draw(made));
  if (std::getenv("ESPALIER_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file(GetParam(), now));
  }
  EXPECT_EQ(now, *read_file(GetParam()));
  const auto ok = check(made, *members);
  EXPECT_TRUE(ok) << ok.error().message;
}

// The same through a real slurmctld of the node image, when there is one.
TEST_P(Golden, IsTakenBySlurm) {
  const char* image = std::getenv("ESPALIER_NODE_IMAGE");
  if (image == nullptr) GTEST_SKIP() << "set ESPALIER_NODE_IMAGE to a root file system with Slurm 24.11 to ask it";
  const auto members = read_fabric(read_file(GetParam())->substr(0, read_file(GetParam())->find(kConf)));
  const auto made = plan(*members);
  if (made.model == Model::flat) GTEST_SKIP() << "flat: there is no file to ask about";
  std::vector<std::string> names;
  for (const auto& [node, leaf] : leaves(made)) names.push_back(node);
  const auto file = std::filesystem::path(testing::TempDir()) / (GetParam().stem().string() + ".topology.conf");
  ASSERT_TRUE(write_file(file, render(made)));
  const auto answer = run({"/bin/bash", ESPALIER_ACCEPTS, image, file.string(), slurm::compress(names)});
  std::filesystem::remove(file);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->status, 0) << answer->err;
  const auto same = compare(made, answer->out);
  EXPECT_TRUE(same) << same.error().message;
  EXPECT_EQ(*read_leaves(answer->out), leaves(made));
}

INSTANTIATE_TEST_SUITE_P(Topology, Golden, testing::ValuesIn(golden_files()),
                         [](const auto& each) { return each.param.stem().string(); });

}  // namespace
}  // namespace espalier::topology
