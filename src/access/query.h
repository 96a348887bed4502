// Percent encoding and query strings as signatures have them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier::access {

// Everything but unreserved characters as %XX; `keep` stays as well.
std::string percent_encode(std::string_view text, std::string_view keep = "");
// What is no %XX stays as it is.
std::string percent_decode(std::string_view text);

using Parameters = std::vector<std::pair<std::string, std::string>>;
// Decoded, in their order.
Parameters parse_query(std::string_view query);

struct Target {
  std::string_view path, query;  // without the '?'
};
Target split_target(std::string_view target);

// Without "." and ".." segments and doubled slashes (RFC 3986, 5.2.4); "/" for nothing.
std::string normal_path(std::string_view path);

}  // namespace espalier::access
