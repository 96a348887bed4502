// YAML maps with a fixed set of members, read with errors that name the line and the member.
#pragma once

#include <yaml-cpp/yaml.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier::sim {

// An empty document is an empty map. kInvalid: no YAML, or not a map.
Result<YAML::Node> parse_yaml_map(const std::string& text);

// kInvalid: a member that is not one of `names`.
Result<void> check_members(const YAML::Node& map, std::initializer_list<std::string_view> names);

// Reads map[name] into out; absent leaves it as it is.
template <typename T>
Result<void> read_member(const YAML::Node& map, const char* name, T& out) {
  const YAML::Node member = map[name];
  if (!member) return {};
  try {
    out = member.as<T>();
    return {};
  } catch (const YAML::Exception&) {
    return fail(ErrorCode::kInvalid, "line {}: '{}' has a value of the wrong kind", member.Mark().line + 1, name);
  }
}

}  // namespace espalier::sim
