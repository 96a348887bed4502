#include "provider/sim/yaml.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace espalier::sim {

Result<YAML::Node> parse_yaml_map(const std::string& text) {
  try {
    YAML::Node node = YAML::Load(text);
    if (!node || node.IsNull()) return YAML::Node(YAML::NodeType::Map);
    if (node.IsMap()) return node;
    return fail(ErrorCode::kInvalid, "line {}: a map was expected", node.Mark().line + 1);
  } catch (const YAML::Exception& e) {
    return fail(ErrorCode::kInvalid, "{}", e.what());
  }
}

Result<void> check_members(const YAML::Node& map, std::initializer_list<std::string_view> names) {
  if (!map.IsMap()) return fail(ErrorCode::kInvalid, "line {}: a map was expected", map.Mark().line + 1);
  for (const auto& member : map) {
    const std::string name = member.first.IsScalar() ? member.first.Scalar() : "?";
    if (std::ranges::find(names, name) == names.end())
      return fail(ErrorCode::kInvalid, "line {}: unknown member '{}'; there are {}", member.first.Mark().line + 1, name,
                  fmt::join(names, ", "));
  }
  return {};
}

}  // namespace espalier::sim
