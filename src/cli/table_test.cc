#include "cli/table.h"

#include <gmock/gmock.h>

#include <sstream>

namespace espalier::cli {
namespace {

using testing::ElementsAre;

Table sample() {
  Table table({"NODE", "STATE", "LEAF", "WHY"});
  table.add({"worker-1", state_cell("Ready"), "nn-4", ""});
  table.add({"w-10", state_cell("Backoff"), "", ""});
  return table;
}

TEST(Table, AlignsAndDropsEmptyColumns) {
  EXPECT_THAT(sample().lines({}), ElementsAre("NODE      STATE    LEAF",  //
                                              "worker-1  Ready    nn-4",  //
                                              "w-10      Backoff  -"));
}

TEST(Table, ColoursDoNotCountAsWidth) {
  EXPECT_THAT(sample().lines({true, true, 0, 0}),
              ElementsAre("\033[2mNODE\033[0m      \033[2mSTATE\033[0m    \033[2mLEAF\033[0m",
                          "worker-1  \033[32mReady\033[0m    nn-4", "w-10      \033[31mBackoff\033[0m  -"));
}

TEST(Table, CutsToTheTerminal) {
  EXPECT_THAT(sample().lines({true, false, 15, 0}),
              ElementsAre("NODE      STATE", "worker-1  Ready", "w-10      Back…"));
  EXPECT_THAT(sample().lines({true, false, 9, 0}), ElementsAre("NODE", "worker-1", "w-10"));
}

TEST(Table, WithoutRowsShowsItsHeader) { EXPECT_THAT(Table({"A", "B"}).lines({}), ElementsAre("A  B")); }

TEST(Terminal, CutsByCodePoint) {
  EXPECT_EQ(cut("héllo", 5), "héllo");
  EXPECT_EQ(cut("héllo!", 3), "hé…");
  EXPECT_EQ(cut("any", 0), "any");
  EXPECT_EQ(display_width("█░…"), 3);
}

TEST(Terminal, ColoursStates) {
  EXPECT_EQ(state_colour("InService"), Colour::kGreen);
  EXPECT_EQ(state_colour("mixed"), Colour::kGreen);
  EXPECT_EQ(state_colour("Launching"), Colour::kYellow);
  EXPECT_EQ(state_colour("Warn"), Colour::kYellow);
  EXPECT_EQ(state_colour("down*"), Colour::kRed);
  EXPECT_EQ(state_colour("Info"), Colour::kNone);
  EXPECT_EQ(paint("x", Colour::kRed, {}), "x");
}

TEST(Table, MessagesStayOnTheirLine) {
  Table table({"WHY"});
  table.add({"one\ntwo\033[31m"});
  EXPECT_THAT(table.lines({}), ElementsAre("WHY", "one two [31m"));
}

TEST(LiveBlock, LeavesOutWhatDoesNotFit) {
  std::ostringstream out;
  LiveBlock block(out, 3);
  block.show({"a", "b", "c"});
  block.show({"d"});
  EXPECT_EQ(out.str(), "a\nb\n\033[2A\033[Jd\n");
}

TEST(LiveBlock, DrawsOverItself) {
  std::ostringstream out;
  LiveBlock block(out);
  block.show({"a", "b"});
  block.show({"c"});
  EXPECT_EQ(out.str(), "a\nb\n\033[2A\033[Jc\n");
}

}  // namespace
}  // namespace espalier::cli
