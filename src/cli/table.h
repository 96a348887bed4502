// Aligned columns for people. Columns in which no row has text are left out; an empty cell shows "-".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/terminal.h"

namespace espalier::cli {

struct Cell {
  Cell(std::string t, Colour c = Colour::kNone) : text(std::move(t)), colour(c) {}  // NOLINT: a text is a cell
  Cell(const char* t) : text(t) {}                                                  // NOLINT
  std::string text;
  Colour colour = Colour::kNone;
};
// A state, in its colour.
Cell state_cell(const std::string& state);

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<Cell> row);  // as many cells as the header has
  // The header first. Lines are cut to the terminal's width and have no spaces at their end.
  [[nodiscard]] std::vector<std::string> lines(const Terminal& terminal) const;

 private:
  [[nodiscard]] std::vector<int> widths() const;  // by column; 0: left out

  std::vector<std::string> header_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace espalier::cli
