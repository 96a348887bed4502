#include "cli/table.h"

#include <algorithm>
#include <cassert>

namespace espalier::cli {

namespace {

constexpr int kGap = 2;

std::string layout(const std::vector<Cell>& row, const std::vector<int>& widths, const Terminal& terminal) {
  std::string line;
  int column = 0;  // where the text ends now
  int start = 0;   // where the next cell starts
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (widths[i] == 0) continue;
    const int room = terminal.width - start;
    if (terminal.width > 0 && room <= 0) break;
    const std::string text = cut(row[i].text.empty() ? "-" : row[i].text, terminal.width > 0 ? room : 0);
    line.append(static_cast<std::size_t>(start - column), ' ');
    line += paint(text, row[i].colour, terminal);
    column = start + display_width(text);
    start += widths[i] + kGap;
  }
  return line;
}

}  // namespace

Cell state_cell(const std::string& state) { return {state, state_colour(state)}; }

void Table::add(std::vector<Cell> row) {
  assert(row.size() == header_.size());
  for (auto& cell : row) cell.text = one_line(cell.text);
  rows_.push_back(std::move(row));
}

std::vector<int> Table::widths() const {
  std::vector<int> out(header_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) out[i] = std::max(out[i], display_width(row[i].text));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] > 0 || rows_.empty()) out[i] = std::max(out[i], display_width(header_[i]));
  return out;
}

std::vector<std::string> Table::lines(const Terminal& terminal) const {
  const auto columns = widths();
  std::vector<Cell> header;
  for (const auto& title : header_) header.emplace_back(title, Colour::kDim);
  std::vector<std::string> out{layout(header, columns, terminal)};
  for (const auto& row : rows_) out.push_back(layout(row, columns, terminal));
  return out;
}

}  // namespace espalier::cli
