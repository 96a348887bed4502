#include "agent/hosts_file.h"

#include <gtest/gtest.h>

namespace espalier::agent {
namespace {

const std::vector<HostEntry> kTwo = {{"c-1", "10.77.0.2"}, {"p5-1", "10.77.0.3"}};
const std::string kBlock = "# espalier begin\n10.77.0.2 c-1\n10.77.0.3 p5-1\n# espalier end\n";

TEST(HostsFile, AddsABlock) {
  EXPECT_EQ(with_hosts("127.0.0.1 localhost\n", kTwo), "127.0.0.1 localhost\n" + kBlock);
  EXPECT_EQ(with_hosts("127.0.0.1 localhost", kTwo), "127.0.0.1 localhost\n" + kBlock);
  EXPECT_EQ(with_hosts("", kTwo), kBlock);
}

TEST(HostsFile, ReplacesOnlyItsBlock) {
  EXPECT_EQ(with_hosts("a\n# espalier begin\nold\n# espalier end\nb\n", kTwo), "a\nb\n" + kBlock);
  EXPECT_EQ(with_hosts("a\n" + kBlock + "b\n", {}), "a\nb\n");
}

TEST(HostsFile, IsStable) {
  EXPECT_EQ(with_hosts(with_hosts("a\n\n# b\n", kTwo), kTwo), with_hosts("a\n\n# b\n", kTwo));
}

TEST(HostsFile, DeltaGivesWhatTheWholeBlockWouldBe) {
  const std::string text = with_hosts("a\n", {{"b-2", "10.0.0.2"}, {"b-4", "10.0.0.4"}, {"b-5", "10.0.0.5"}});
  const HostsDelta delta{{{"b-3", "10.0.0.3"}, {"b-4", "10.0.0.40"}}, {"b-5", "stranger"}};
  const std::string whole = with_hosts("a\n", {{"b-2", "10.0.0.2"}, {"b-3", "10.0.0.3"}, {"b-4", "10.0.0.40"}});
  EXPECT_EQ(with_delta(text, delta), whole);
  EXPECT_EQ(with_delta(whole, delta), whole) << "twice is once";
  EXPECT_EQ(with_delta("a\n", {{{"b-1", "10.0.0.1"}}, {}}), with_hosts("a\n", {{"b-1", "10.0.0.1"}}));
  EXPECT_EQ(with_delta(with_hosts("a\n", {{"b-1", "10.0.0.1"}}), {{}, {"b-1"}}), "a\n");
}

TEST(HostsFile, DeltaMovesANameThatIsDroppedAndPut) {
  EXPECT_EQ(with_delta(kBlock, {{{"c-1", "10.77.0.9"}}, {"c-1"}}),
            "# espalier begin\n10.77.0.9 c-1\n10.77.0.3 p5-1\n# espalier end\n");
}

TEST(HostsFile, MendsABlockWithoutEnd) {
  EXPECT_EQ(with_hosts("a\n# espalier begin\n1.2.3.4 x\n", kTwo), "a\n" + kBlock);
}

}  // namespace
}  // namespace espalier::agent
