#include "access/query.h"

#include <algorithm>

namespace espalier::access {

namespace {

bool is_unreserved(unsigned char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '~';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string percent_encode(std::string_view text, std::string_view keep) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(byte) || keep.find(c) != std::string_view::npos)
      out += c;
    else
      (out += '%', out += kDigits[byte >> 4]) += kDigits[byte & 0xF];
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool two_more = text[i] == '%' && i + 2 < text.size();
    const int high = two_more ? hex_value(text[i + 1]) : -1;
    const int low = two_more ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

Parameters parse_query(std::string_view query) {
  Parameters out;
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    out.emplace_back(percent_decode(pair.substr(0, equals)),
                     percent_decode(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return out;
}

Target split_target(std::string_view target) {
  const auto mark = std::min(target.find('?'), target.size());
  return {target.substr(0, mark), target.substr(std::min(mark + 1, target.size()))};
}

std::string normal_path(std::string_view path) {
  const bool folder = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!segment.empty() && segment != "." && segment != "..") kept.push_back(segment);
  }
  std::string out;
  for (const auto segment : kept) (out += '/') += segment;
  return folder || kept.empty() ? out + "/" : out;
}

}  // namespace espalier::access
