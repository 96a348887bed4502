#include "agent/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace espalier::agent {

namespace {

constexpr std::array<std::string_view, 8> kNames = {"password",   "passwd",      "secret",     "token",
                                                    "credential", "private_key", "access_key", "api_key"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

bool names_a_secret(std::string_view word) {
  std::string lower;
  for (const char c : word) lower += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::any_of(kNames, [&](std::string_view name) { return lower.find(name) != std::string::npos; });
}

// Where the value begins that follows a name ending at `at`: behind "=", ": ", "\": \"", or as an option's argument.
std::size_t value_after(std::string_view line, std::size_t at, bool option) {
  const auto after = line.find_first_not_of(" \t\"'", at);
  if (after == std::string_view::npos) return after;
  if (line[after] == '=' || line[after] == ':') return line.find_first_not_of(" \t\"'", after + 1);
  return option ? after : std::string_view::npos;
}

std::string masked(std::string_view line) {
  std::string out;
  std::size_t at = 0;
  while (at < line.size()) {
    std::size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end == at) {
      out += line[at++];
      continue;
    }
    const std::string_view word = line.substr(at, end - at);
    out += word;
    at = end;
    const auto value = names_a_secret(word) ? value_after(line, end, word.starts_with("--")) : std::string_view::npos;
    if (value == std::string_view::npos) continue;
    out.append(line.substr(end, value - end)) += "***";
    at = std::min(line.find_first_of(" \t\"',;&", value), line.size());
  }
  return out;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string out;
  bool in_key = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool begins = line.find("-----BEGIN ") != std::string_view::npos;
    const bool ends = line.find("-----END ") != std::string_view::npos;
    out += in_key && !ends ? "***" : masked(line);
    in_key = (in_key || (begins && line.find("PRIVATE") != std::string_view::npos)) && !ends;
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace espalier::agent
