#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ostream>

namespace espalier::cli {

namespace {

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::kGreen:
      return "32";
    case Colour::kYellow:
      return "33";
    case Colour::kRed:
      return "31";
    case Colour::kDim:
      return "2";
    case Colour::kBold:
      return "1";
    case Colour::kNone:
      break;
  }
  return "";
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

template <std::size_t N>
bool starts_with_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [text](auto word) { return text.starts_with(word); });
}

}  // namespace

Terminal detect_terminal() {
  Terminal out;
  const char* no_color = std::getenv("NO_COLOR");
  out.live = isatty(STDOUT_FILENO) == 1;
  out.colour = out.live && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (out.live && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    out.width = size.ws_col;
    out.height = size.ws_row;
  }
  return out;
}

std::string paint(std::string_view text, Colour colour, const Terminal& terminal) {
  if (!terminal.colour || colour == Colour::kNone || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code_of(colour), text);
}

Colour state_colour(std::string_view state) {
  static constexpr std::array<std::string_view, 6> kGood{"InService", "Ready", "Running", "idle", "alloc", "mix"};
  static constexpr std::array<std::string_view, 7> kBad{"Fail", "Degraded", "Backoff", "Error",
                                                        "down", "fail",     "inval"};
  if (state.empty() || state == "Info" || state == "Gone") return Colour::kNone;
  if (starts_with_any(state, kGood)) return Colour::kGreen;
  if (starts_with_any(state, kBad)) return Colour::kRed;
  return Colour::kYellow;
}

std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(out.begin(), out.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return out;
}

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string cut(std::string_view text, int width) {
  if (width <= 0 || display_width(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (int columns = 0; end < text.size(); ++end) {
    if (is_continuation(text[end])) continue;
    if (++columns == width) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

void LiveBlock::show(std::vector<std::string> lines) {
  if (height_ > 1 && lines.size() >= static_cast<std::size_t>(height_))
    lines.resize(static_cast<std::size_t>(height_) - 1);
  if (drawn_ > 0) out_ << fmt::format("\033[{}A\033[J", drawn_);
  for (const auto& line : lines) out_ << line << '\n';
  out_.flush();
  drawn_ = lines.size();
}

}  // namespace espalier::cli
