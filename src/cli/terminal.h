// How output may look: plain in files and pipes, coloured and redrawn on a terminal.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::cli {

struct Terminal {
  bool live = false;    // lines may be redrawn
  bool colour = false;  // live, and NO_COLOR is not set
  int width = 0;        // columns; 0: no bound
  int height = 0;       // rows; 0: no bound
};

enum class Colour { kNone, kGreen, kYellow, kRed, kDim, kBold };

// What standard output is now.
Terminal detect_terminal();
std::string paint(std::string_view text, Colour colour, const Terminal& terminal);
// Green: as it should be; yellow: on its way; red: in trouble. Knows the states of clusters, groups, slots and Slurm,
// and the levels of events.
Colour state_colour(std::string_view state);

// Line breaks and other control characters become spaces: messages come from many hands.
std::string one_line(std::string_view text);
// Columns that UTF-8 text takes, one a code point.
int display_width(std::string_view text);
// The first `width` columns, "…" in place of what is cut off. width <= 0: all.
std::string cut(std::string_view text, int width);

// A block of lines that is drawn over itself. Lines must not be longer than the terminal is wide; those that do not fit
// its height are left out, for what has scrolled away cannot be drawn over.
class LiveBlock {
 public:
  explicit LiveBlock(std::ostream& out, int height = 0) : out_(out), height_(height) {}
  void show(std::vector<std::string> lines);

 private:
  std::ostream& out_;
  int height_;
  std::size_t drawn_ = 0;
};

}  // namespace espalier::cli
