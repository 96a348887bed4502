#include "slurm/hostlist.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/process.h"
#include "base/random.h"

namespace espalier::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::vector<std::string>;

TEST(HostlistExpand, WritesOutRanges) {
  EXPECT_THAT(*expand("p5-[1-3,7],login-1"), ElementsAre("p5-1", "p5-2", "p5-3", "p5-7", "login-1"));
  EXPECT_THAT(*expand("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(*expand("n[1]x"), ElementsAre("n1x"));
  EXPECT_THAT(*expand("n[9-011]"), ElementsAre("n9", "n10", "n11"));
}

TEST(HostlistExpand, CountsTheLeftmostBracketSlowest) {
  EXPECT_THAT(*expand("r[1-2]n[09-10]y"), ElementsAre("r1n09y", "r1n10y", "r2n09y", "r2n10y"));
}

TEST(HostlistExpand, KeepsOrderAndDuplicates) { EXPECT_THAT(*expand("b,a,b"), ElementsAre("b", "a", "b")); }

TEST(HostlistExpand, TakesSlurmsWaysOfSayingNone) {
  EXPECT_THAT(*expand(""), IsEmpty());
  EXPECT_THAT(*expand("(null)"), IsEmpty());
  EXPECT_THAT(*expand(" a,, b\n"), ElementsAre("a", "b"));
}

TEST(HostlistExpand, SaysWhereItIsWrong) {
  for (const auto* bad : {"n[", "n]", "n[]", "n[1-2", "n[3-1]", "n[a-b]", "n[1,]", "n[1-]", "n[-1]", "n[1-2-3]",
                          "n[1234567890123456789]", "n[[1]]"}) {
    const auto result = expand(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid) << bad;
  }
  EXPECT_THAT(expand("ok,n[3-1]").error().message, HasSubstr("'n[3-1]', character 2"));
}

TEST(HostlistExpand, StopsAtTheSizeOfSlurmsNodeTable) {
  EXPECT_EQ(expand("n[1-65536]")->size(), 65'536U);
  for (const auto* bad : {"n[1-65537]", "n[1-65536],m", "r[1-300]n[1-300]", "n[0-999999999999999999]",
                          "a[1-9]b[1-9]c[1-9]d[1-9]e[1-9]f[1-9]g[1-9]"}) {
    ASSERT_FALSE(expand(bad)) << bad;
    EXPECT_THAT(expand(bad).error().message, HasSubstr("65536 names")) << bad;
  }
}

TEST(HostlistCompress, WritesRanges) {
  EXPECT_EQ(compress({}), "");
  EXPECT_EQ(compress({"p5-1"}), "p5-1");
  EXPECT_EQ(compress({"p5-10", "p5-2", "p5-1", "p5-2", "p5-11"}), "p5-[1-2,10-11]");
  EXPECT_EQ(compress({"b", "a", "b2", "b1"}), "a,b,b[1-2]");
  EXPECT_EQ(compress({"n9", "n10", "n11"}), "n[9-11]");
  EXPECT_EQ(compress({"p10-1", "p9-1"}), "p9-1,p10-1");
}

TEST(HostlistCompress, KeepsLeadingZerosApart) {
  EXPECT_EQ(compress({"n08", "n09", "n10", "n9"}), "n[9,08-10]");
  EXPECT_EQ(compress({"n1", "n2", "n01", "n02"}), "n[1-2,01-02]");
  EXPECT_EQ(compress({"n0", "n00", "n000"}), "n[0,00,000]");
}

TEST(HostlistCompress, CarriesNumbersLongerThanAMachineWord) {
  const Names names = {"n99999999999999999999998", "n99999999999999999999999"};
  EXPECT_EQ(*expand(compress(names)), names);
}

TEST(NaturalLess, CountsAsPeopleDo) {
  EXPECT_TRUE(natural_less("p5-2", "p5-10"));
  EXPECT_FALSE(natural_less("p5-10", "p5-2"));
  EXPECT_FALSE(natural_less("p5-2", "p5-2"));
  EXPECT_TRUE(natural_less("rack2n9", "rack10n1"));
}

// Names that meet every branch: few letters, zeros, digits in the middle and at the end.
rc::Gen<std::string> any_name() {
  return rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab-0019"))));
}

RC_GTEST_PROP(HostlistProperty, ExpandUndoesCompress, ()) {
  auto names = *rc::gen::container<Names>(any_name());
  const auto back = expand(compress(names));
  std::ranges::sort(names, natural_less);
  const auto rest = std::ranges::unique(names);
  names.erase(rest.begin(), rest.end());
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == names);
}

RC_GTEST_PROP(HostlistProperty, CompressDoesNotSeeTheOrder, ()) {
  auto names = *rc::gen::container<Names>(any_name());
  const auto once = compress(names);
  std::ranges::reverse(names);
  RC_ASSERT(compress(names) == once);
}

RC_GTEST_PROP(HostlistProperty, AnyTextIsTakenOrRefused, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("n[]-,019 ")));
  const auto names = expand(text);
  if (names) {
    for (const auto& name : *names) RC_ASSERT(!name.empty());
  } else {
    RC_ASSERT(names.error().code == ErrorCode::kInvalid);
  }
}

RC_GTEST_PROP(HostlistProperty, NaturalLessIsAnOrder, ()) {
  const auto a = *any_name(), b = *any_name(), c = *any_name();
  RC_ASSERT(!(natural_less(a, b) && natural_less(b, a)));
  RC_ASSERT((a == b) == (!natural_less(a, b) && !natural_less(b, a)));
  if (natural_less(a, b) && natural_less(b, c)) RC_ASSERT(natural_less(a, c));
}

RC_GTEST_PROP(HostlistProperty, NaturalOrderIsThatOfNaturalLess, ()) {
  const auto names = *rc::gen::container<Names>(any_name());
  std::vector<std::uint32_t> wanted(names.size());
  for (std::uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  std::ranges::stable_sort(wanted, [&](auto a, auto b) { return natural_less(names[a], names[b]); });
  RC_ASSERT(natural_order({names.begin(), names.end()}) == wanted);
}

// One answer a line; "" in a line that Slurm refuses.
Names ask_slurm(const char* image, const char* what, const Names& lists) {
  RunOptions options;
  options.input = fmt::format("{}\n", fmt::join(lists, "\n"));
  const auto answer = run({"/bin/bash", ESPALIER_HOSTNAMES, image, what}, options);
  Names out;
  if (!answer || answer->status != 0) return out;
  std::istringstream lines(answer->out);
  for (std::string line; std::getline(lines, line);) out.push_back(line == "refused" ? "" : line);
  return out;
}

Names random_names(Random& random) {
  const char* const prefixes[] = {"p5-", "n", "rack1n", "a-b-", "x10y"};
  Names out;
  for (auto n = 1 + random.below(20); n > 0; --n)
    out.push_back(fmt::format("{}{:0{}}", prefixes[random.below(5)], random.below(120), random.below(4)));
  return out;
}

// Mostly right: a few characters of a list are others.
std::string damaged(Random& random, std::string list) {
  for (auto n = random.below(3); n > 0; --n) list[random.below(list.size())] = "[]-,09a"[random.below(7)];
  return list;
}

// Thousands of random lists, as Slurm reads them and as we do.
TEST(HostlistReal, SlurmReadsTheSame) {
  const char* image = std::getenv("ESPALIER_NODE_IMAGE");
  if (image == nullptr) GTEST_SKIP() << "set ESPALIER_NODE_IMAGE to a root file system with Slurm to ask scontrol";
  Random random(1);
  Names lists = {"rack[1-2]n[08-10]y", "n[01-9]", "n[9-011]", "n[3-1]", "n[a-b]", "n["};
  for (int i = 0; i < 4000; ++i) lists.push_back(compress(random_names(random)));
  const auto read = ask_slurm(image, "hostnames", lists);
  ASSERT_EQ(read.size(), lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto names = expand(lists[i]);
    EXPECT_EQ(names ? fmt::format("{}", fmt::join(*names, " ")) : "", read[i]) << lists[i];
  }
}

// What Slurm writes, we read as the same names.
TEST(HostlistReal, WeReadWhatSlurmWrites) {
  const char* image = std::getenv("ESPALIER_NODE_IMAGE");
  if (image == nullptr) GTEST_SKIP() << "set ESPALIER_NODE_IMAGE to a root file system with Slurm to ask scontrol";
  Random random(2);
  std::vector<Names> asked;
  Names lists;
  for (int i = 0; i < 2000; ++i) {
    asked.push_back(random_names(random));
    lists.push_back(fmt::format("{}", fmt::join(asked.back(), ",")));
  }
  const auto written = ask_slurm(image, "hostlistsorted", lists);
  ASSERT_EQ(written.size(), lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto names = expand(written[i]);
    ASSERT_TRUE(names) << written[i];
    EXPECT_EQ(compress(*names), compress(asked[i])) << written[i];
  }
}

// Of damaged lists: what both take is the same.
TEST(HostlistReal, DamagedListsAreNeverReadAsOthers) {
  const char* image = std::getenv("ESPALIER_NODE_IMAGE");
  if (image == nullptr) GTEST_SKIP() << "set ESPALIER_NODE_IMAGE to a root file system with Slurm to ask scontrol";
  Random random(3);
  Names lists;
  for (int i = 0; i < 2000; ++i) lists.push_back(damaged(random, compress(random_names(random))));
  const auto read = ask_slurm(image, "hostnames", lists);
  ASSERT_EQ(read.size(), lists.size());
  int both = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto names = expand(lists[i]);
    if (!names || names->empty() || read[i].empty()) continue;
    ++both;
    EXPECT_EQ(fmt::format("{}", fmt::join(*names, " ")), read[i]) << lists[i];
  }
  EXPECT_GT(both, 500);
}

}  // namespace
}  // namespace espalier::slurm
