// Fabrics drawn as YAML: node → path, and the two forms of a model. Fixed depth, so aliases cannot expand for ever.
#include <yaml-cpp/yaml.h>

#include <optional>

#include "topology/sources/paths.h"
#include "topology/sources/source.h"

namespace espalier::topology {
namespace {

using Parents = std::map<std::string, std::string>;

Result<YAML::Node> load_map(std::string_view text) {
  try {
    auto node = YAML::Load(std::string(text));
    if (node.IsMap()) return node;
    return fail(ErrorCode::kInvalid, "a YAML map was expected");
  } catch (const YAML::Exception& e) {
    return fail(ErrorCode::kInvalid, "not YAML: {}", e.what());
  }
}

std::string line_of(const YAML::Node& node) { return fmt::format("line {}", node.Mark().line + 1); }
std::string text_of(const YAML::Node& node) { return node && node.IsScalar() ? node.Scalar() : ""; }
// A member of a map; an undefined node for anything else.
YAML::Node member(const YAML::Node& map, const char* name) {
  return map && map.IsMap() ? map[name] : YAML::Node(YAML::NodeType::Undefined);
}

// A list, or "a/b/c".
std::vector<std::string> path_of(const YAML::Node& node) {
  if (!node || !node.IsSequence()) return split_path(text_of(node));
  std::vector<std::string> out;
  for (const auto& part : node)
    if (!text_of(part).empty() && out.size() < kMaxPath) out.push_back(text_of(part));
  return out;
}

// The host lists of a leaf, as one.
std::string hosts_of(const YAML::Node& node) {
  if (!node || !node.IsSequence()) return text_of(node);
  std::string out;
  for (const auto& part : node) {
    if (out.size() > kMaxMachines) break;
    out += (out.empty() ? "" : ",") + text_of(part);
  }
  return out;
}

// Domain of a block: its own member, or the label or annotation that is named so.
std::string domain_of(const YAML::Node& block) {
  if (const auto own = text_of(member(block, "domain")); !own.empty()) return own;
  for (const char* where : {"annotations", "labels"}) {
    const auto map = member(block, where);
    if (!map || !map.IsMap()) continue;
    for (const auto& each : map)
      if (text_of(each.first).ends_with("domain")) return text_of(each.second);
  }
  return "";
}

Parents parents_of(const YAML::Node& switches, Located& out) {
  Parents parents;
  if (!switches || !switches.IsMap()) return parents;
  for (const auto& each : switches) {
    const auto children = member(each.second, "switches");
    if (!children || !children.IsSequence()) continue;
    for (const auto& child : children) {
      if (parents.size() >= kMaxMachines) return parents;
      if (parents.try_emplace(text_of(child), text_of(each.first)).second) continue;
      out.left_out.add(fmt::format("{}: switch {} has another parent above", line_of(child), text_of(child)));
    }
  }
  return parents;
}

std::vector<std::string> path_to(std::string leaf, const Parents& parents) {
  std::vector<std::string> path{std::move(leaf)};
  for (auto at = parents.find(path.front()); at != parents.end() && path.size() < kMaxPath; at = parents.find(path[0]))
    path.insert(path.begin(), at->second);
  return path;
}

void read_blocks(const YAML::Node& map, Located& out) {
  const auto parents = parents_of(map["switches"], out);
  std::size_t count = 0;
  for (const auto& block : map["blocks"]) {
    if (++count > kMaxMachines) return;
    const auto leaf = text_of(member(block, "switch"));
    const Position position{leaf.empty() ? std::vector<std::string>() : path_to(leaf, parents), domain_of(block)};
    put(hosts_of(member(block, "nodes")), position, line_of(block), out);
  }
}

// The nodes on a leaf: those that it names, else the next ones.
void read_leaves(const YAML::Node& map, const std::vector<std::string>& nodes, Located& out) {
  std::size_t next = 0, count = 0;
  for (const auto& leaf : map["leaves"]) {
    if (++count > kMaxMachines) return;
    const Position position{path_of(member(leaf, "path")), text_of(member(leaf, "domain"))};
    if (member(leaf, "nodes")) {
      put(hosts_of(member(leaf, "nodes")), position, line_of(leaf), out);
      continue;
    }
    const auto machines = member(leaf, "machines").as<std::size_t>(0);
    for (std::size_t i = 0; i < machines && next < nodes.size(); ++i) put(nodes[next++], position, line_of(leaf), out);
  }
  if (next < nodes.size() && next > 0)
    out.left_out.add(fmt::format("{} nodes from {} on: the model's leaves are full", nodes.size() - next, nodes[next]));
}

}  // namespace

Result<Located> read_paths_yaml(std::string_view text) {
  const auto map = load_map(text);
  if (!map) return tl::unexpected(map.error());
  Located out;
  for (const auto& each : *map) {
    const auto& value = each.second;
    const auto position =
        value.IsMap() ? Position{path_of(value["path"]), text_of(value["domain"])} : Position{path_of(value), ""};
    put(text_of(each.first), position, line_of(each.first), out);
  }
  return out;
}

Result<Located> read_model(std::string_view text, const std::vector<std::string>& nodes) {
  const auto map = load_map(text);
  if (!map) return tl::unexpected(map.error());
  Located out;
  if ((*map)["blocks"].IsDefined() && (*map)["blocks"].IsSequence())
    read_blocks(*map, out);
  else if ((*map)["leaves"].IsDefined() && (*map)["leaves"].IsSequence())
    read_leaves(*map, nodes, out);
  else
    return fail(ErrorCode::kInvalid, "a fabric model has a list 'leaves', or 'switches' and a list 'blocks'");
  return out;
}

}  // namespace espalier::topology
