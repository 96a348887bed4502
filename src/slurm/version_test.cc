#include "slurm/version.h"

#include <gmock/gmock.h>

namespace espalier::slurm {
namespace {

using testing::HasSubstr;

TEST(Version, IsReadAsTheDaemonsPrintIt) {
  for (const auto* text : {"24.11.5", "slurm 24.11.5", "slurm-wlm 24.11.5\n"})
    EXPECT_EQ(*read_version(text), (Version{24, 11, 5})) << text;
  EXPECT_EQ(*read_version("26.05"), (Version{26, 5, 0}));
  EXPECT_EQ(*read_version("25.11.0-0rc1"), (Version{25, 11, 0}));
  for (const auto* text : {"", "slurm", "24", "24.", "24.13", "v.5"}) EXPECT_FALSE(read_version(text)) << text;
  EXPECT_THAT(read_version("21.08").error().message, HasSubstr("older than 22.05"));
}

TEST(Version, IsWrittenAsItIsRead) {
  for (const auto* text : {"22.05.8", "24.11", "26.05.5"}) EXPECT_EQ(to_string(*read_version(text)), text);
}

TEST(Release, IsTheNewestThatIsNotNewer) {
  EXPECT_EQ(release_of({24, 8, 1}).from, (Version{24, 5, 0}));
  EXPECT_EQ(release_of({30, 1, 0}).from, (Version{26, 5, 0}));
  EXPECT_EQ(release_of({22, 5, 8}).from, (Version{22, 5, 0}));
}

// One line a fact of the changelogs: the first release that has it.
TEST(Release, BringsWhatTheChangelogsSay) {
  const auto first = [](auto has) {
    for (const auto& row : releases())
      if (has(row)) return to_string(row.from);
    return std::string("never");
  };
  EXPECT_EQ(first([](const Release& r) { return r.switch_as_node_rank; }), "23.02");
  EXPECT_EQ(first([](const Release& r) { return r.block; }), "23.11");
  EXPECT_EQ(first([](const Release& r) { return r.block && !r.equal_blocks; }), "24.05");
  EXPECT_EQ(first([](const Release& r) { return r.topology_yaml && r.short_blocks && r.empty_switches; }), "25.05");
  EXPECT_EQ(first([](const Release& r) { return r.no_topology_plugin == std::string("topology/flat"); }), "25.05");
  EXPECT_EQ(first([](const Release& r) { return r.block_as_node_rank; }), "25.11");
  EXPECT_EQ(first([](const Release& r) { return r.tried; }), "24.11");
}

TEST(Release, SaysWhatWasNotTried) {
  EXPECT_EQ(describe({24, 11, 5}), "Slurm 24.11.5");
  EXPECT_EQ(describe({25, 5, 0}), "Slurm 25.05 (by rule, not tried)");
}

}  // namespace
}  // namespace espalier::slurm
