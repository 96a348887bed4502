#include "cli/topology_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A world of three texts.
Result<std::string> read(const std::string& from) {
  if (from == "paths") return "i-1,core/a\ni-2,core/b\n";
  if (from == "domains") return "gb-2: 5e797fc6-0f46-421a-8724-0e102c0f723c, 1\n";
  if (from == "names") return "i-1 gb-1\ni-2 gb-2\n";
  return fail(ErrorCode::kNotFound, "there is no {}", from);
}

TEST(Sources, AreReadFromTheCommandLine) {
  const auto source = parse_source("ibnetdiscover=|ibnetdiscover -s");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(source->from, "|ibnetdiscover -s");
  for (const char* text : {"", "ec2", "ec2=", "paper=x"}) EXPECT_FALSE(parse_source(text)) << text;
}

TEST(Sources, BecomeOneAnswerByNodeNames) {
  const auto found = load({{{"csv", "paths"}, {"nvlink", "domains"}}, "names", {}}, read);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->positions.at("gb-2").network_nodes.back(), "b");
  EXPECT_TRUE(found->positions.at("gb-2").domain.ends_with(".1"));
}

TEST(Sources, OneThatIsAwayFailsAPlanButNotAWatch) {
  const SourcesOptions options{{{"ec2", "away"}, {"csv", "paths"}}, "", {}};
  EXPECT_THAT(load(options, read).error().message, HasSubstr("ec2=away: there is no away"));
  const auto rest = load_what_answers(options, read);
  EXPECT_EQ(rest.positions.size(), 2U);
  EXPECT_THAT(rest.left_out.lines(), ElementsAre(HasSubstr("ec2=away")));
}

TEST(Sources, CommandsAreRun) {
  EXPECT_EQ(*read_text("|printf 'a b'"), "a b");
  EXPECT_THAT(read_text("|echo no >&2; exit 3").error().message, HasSubstr("ended with 3: no"));
}

}  // namespace
}  // namespace espalier::cli
