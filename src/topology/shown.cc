#include "topology/shown.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "slurm/hostlist.h"

namespace espalier::topology {
namespace {

std::string_view take_until(std::string_view& text, char end) {
  const auto part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// "SwitchName=a Nodes=n1": fields of a line by their keys, which Slurm takes in any case.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view field(std::string_view key) const {
    auto rest = text_;
    while (!rest.empty()) {
      const auto word = take_until(rest, ' ');
      const auto equals = word.find('=');
      if (equals != std::string_view::npos && same_word(word.substr(0, equals), key)) return word.substr(equals + 1);
    }
    return {};
  }

 private:
  std::string_view text_;
};

tl::unexpected<Error> on_unit(const Error& error, std::string_view unit) {
  return fail(error.code, "topology, {}: {} (is SLURM_TOPO_LEN set? It cuts lines)", unit, error.message);
}

Result<std::vector<std::string>> names(std::string_view hostlist, std::string_view unit) {
  auto out = slurm::expand(hostlist);
  if (!out) return on_unit(out.error(), unit);
  return out;
}

Result<Switch> switch_of(std::string_view name, std::string_view children, std::string_view nodes) {
  auto switches = names(children, name);
  if (!switches) return tl::unexpected(switches.error());
  auto list = names(nodes, name);
  if (!list) return tl::unexpected(list.error());
  return Switch{std::string(name), std::move(*switches), std::move(*list)};
}

Result<Block> block_of(std::string_view name, std::string_view nodes) {
  auto list = names(nodes, name);
  if (!list) return tl::unexpected(list.error());
  return Block{std::string(name), std::move(*list), {}};
}

Result<std::vector<int>> read_sizes(std::string_view text) {
  std::vector<int> out;
  while (!text.empty()) {
    const auto word = take_until(text, ',');
    const auto number = names(fmt::format("[{}]", word), "BlockSizes");
    if (!number || number->size() != 1 || word.size() > 6)
      return fail(ErrorCode::kInvalid, "BlockSizes: '{}' is no size", word.substr(0, 40));
    out.push_back(std::stoi(number->front()));
  }
  return out;
}

// ---- one topology as lines -----------------------------------------------------------------------------------------

// `of_scontrol`: an inner switch shows the nodes below it too, which are not its own.
class LinesReader {
 public:
  explicit LinesReader(bool of_scontrol) : of_scontrol_(of_scontrol) {}

  Result<std::vector<Shown>> read(std::string_view text) {
    out_.bytes = text.size();
    for (int number = 1; !text.empty(); ++number) {
      auto line = take_until(text, '\n');
      if (!of_scontrol_) line = line.substr(0, line.find('#'));
      while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
      while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) line.remove_prefix(1);
      if (line.empty()) continue;
      if (auto ok = read_line(line, number); !ok) return tl::unexpected(ok.error());
    }
    if (out_.plan.model == Model::flat) return std::vector<Shown>{};
    out_.cluster_default = true;
    return std::vector<Shown>{std::move(out_)};
  }

 private:
  Result<void> read_line(std::string_view text, int number) {
    const Line line(text);
    if (const auto name = line.field("SwitchName"); !name.empty()) {
      const auto children = line.field("Switches");
      auto read = switch_of(name, children, of_scontrol_ && !children.empty() ? "" : line.field("Nodes"));
      if (!read) return tl::unexpected(read.error());
      return keep(Model::tree, std::move(*read), out_.plan.switches, number);
    }
    if (const auto name = line.field("BlockName"); !name.empty()) {
      auto read = block_of(name, line.field("Nodes"));
      if (!read) return tl::unexpected(read.error());
      return keep(Model::block, std::move(*read), out_.plan.blocks, number);
    }
    if (!line.field("AggregatedBlock").empty() || !line.field("BlockLevels").empty()) return {};
    if (const auto sizes = line.field("BlockSizes"); !sizes.empty()) {
      auto read = read_sizes(sizes);
      if (!read) return tl::unexpected(read.error());
      out_.plan.block_sizes = std::move(*read);
      return {};
    }
    return fail(ErrorCode::kInvalid, "line {} of the topology: '{}' names no switch or block", number,
                text.substr(0, 80));
  }

  template <typename Unit>
  Result<void> keep(Model model, Unit unit, std::vector<Unit>& units, int number) {
    if (out_.plan.model != Model::flat && out_.plan.model != model)
      return fail(ErrorCode::kInvalid, "line {} of the topology: switches and blocks in one file", number);
    out_.plan.model = model;
    units.push_back(std::move(unit));
    out_.lines.push_back(number);
    return {};
  }

  bool of_scontrol_;
  Shown out_;
};

// ---- several topologies as YAML ------------------------------------------------------------------------------------

std::string scalar(const YAML::Node& node) { return node.IsDefined() && node.IsScalar() ? node.Scalar() : ""; }

Result<void> read_switches(const YAML::Node& list, Shown& out) {
  for (const auto& each : list) {
    auto read = switch_of(scalar(each["switch"]), scalar(each["children"]), scalar(each["nodes"]));
    if (!read) return tl::unexpected(read.error());
    out.plan.switches.push_back(std::move(*read));
    out.lines.push_back(each.Mark().line + 1);
  }
  return {};
}

Result<void> read_blocks(const YAML::Node& block, Shown& out) {
  for (const auto& size : block["block_sizes"]) out.plan.block_sizes.push_back(size.as<int>());
  for (const auto& each : block["blocks"]) {
    auto read = block_of(scalar(each["block"]), scalar(each["nodes"]));
    if (!read) return tl::unexpected(read.error());
    out.plan.blocks.push_back(std::move(*read));
    out.lines.push_back(each.Mark().line + 1);
  }
  return {};
}

// scontrol prints every kind that a topology is not as {}; without any topology it shows one that is nothing.
Result<Shown> read_topology(const YAML::Node& node) {
  Shown out;
  out.name = scalar(node["topology"]);
  if (out.name.empty()) return fail(ErrorCode::kInvalid, "topology.yaml, line {}: no name", node.Mark().line + 1);
  if (const auto value = node["cluster_default"]) out.cluster_default = value.as<bool>();
  if (const auto tree = node["tree"]; tree && tree["switches"]) {
    out.plan.model = Model::tree;
    if (auto ok = read_switches(tree["switches"], out); !ok) return tl::unexpected(ok.error());
  } else if (const auto block = node["block"]; block && block["blocks"]) {
    out.plan.model = Model::block;
    if (auto ok = read_blocks(block, out); !ok) return tl::unexpected(ok.error());
  } else if (!node["flat"]) {
    return fail(ErrorCode::kInvalid, "topology {}: neither tree, block nor flat", out.name);
  }
  return out;
}

Result<std::vector<Shown>> read_yaml(std::string_view text) {
  try {
    std::vector<Shown> out;
    const auto all = YAML::Load(std::string(text));
    if (!all.IsSequence()) return fail(ErrorCode::kInvalid, "topology.yaml: no list of topologies");
    for (const auto& each : all) {
      auto read = read_topology(each);
      if (!read) return tl::unexpected(read.error());
      read->bytes = text.size();
      out.push_back(std::move(*read));
    }
    return out;
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::kInvalid, "topology.yaml: {}", error.what());
  }
}

// The first line that says something.
bool looks_like_yaml(std::string_view text) {
  while (!text.empty()) {
    auto line = take_until(text, '\n');
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) line.remove_prefix(1);
    if (line.empty() || line.front() == '#') continue;
    return line.front() == '%' || line.front() == '-' || line.front() == '[';
  }
  return false;
}

// ---- normal form ---------------------------------------------------------------------------------------------------

constexpr int kMaxDepth = 40;  // slurmctld refuses more than 20

class Normal {
 public:
  explicit Normal(const std::vector<Switch>& switches) {
    std::unordered_set<std::string_view> children;
    for (const auto& line : switches) {
      by_name_.emplace(line.name, &line);
      children.insert(line.switches.begin(), line.switches.end());
    }
    for (const auto& line : switches)
      if (children.count(line.name) == 0) roots_.push_back(&line);
  }

  std::vector<Switch> switches() {
    for (const auto* root : roots_) grow(*root, true);
    return std::move(out_);
  }

 private:
  // Writes what is left of a switch, after its place is known; returns its name, or that of the one child it stands
  // for.
  std::string grow(const Switch& line, bool is_root, int depth = 0) {
    if (depth > kMaxDepth || !seen_.insert(line.name).second) return "";
    if (line.switches.empty()) {
      if (!line.nodes.empty()) out_.push_back({line.name, {}, line.nodes});
      return line.nodes.empty() ? "" : line.name;
    }
    const auto at = out_.size();
    out_.push_back({line.name, {}, {}});
    for (const auto& child : line.switches) {
      const auto found = by_name_.find(child);
      auto name = found == by_name_.end() ? child : grow(*found->second, false, depth + 1);
      if (!name.empty()) out_[at].switches.push_back(std::move(name));
    }
    return settle(at, is_root);
  }

  // A level that carries no choice goes: the root takes the place of a single inner switch below it, any other switch
  // gives its place to its single child.
  std::string settle(std::size_t at, bool is_root) {
    const auto count = out_[at].switches.size();
    const bool over_inner = count == 1 && at + 1 < out_.size() && !out_[at + 1].switches.empty();
    if (count > 1 || (is_root && count == 1 && !over_inner)) return out_[at].name;
    auto name = is_root && count == 1 ? out_[at].name : count == 1 ? out_[at].switches.front() : "";
    if (is_root && count == 1) std::swap(out_[at].name, out_[at + 1].name);
    out_.erase(out_.begin() + static_cast<std::ptrdiff_t>(at));
    return name;
  }

  std::unordered_map<std::string_view, const Switch*> by_name_;
  std::vector<const Switch*> roots_;
  std::unordered_set<std::string_view> seen_;
  std::vector<Switch> out_;
};

}  // namespace

Result<std::vector<Shown>> read_shown(std::string_view text) {
  return looks_like_yaml(text) ? read_yaml(text) : LinesReader(true).read(text);
}

Result<std::vector<Shown>> read_file_text(std::string_view text) {
  return looks_like_yaml(text) ? read_yaml(text) : LinesReader(false).read(text);
}

Plan normal(Plan plan, const std::vector<std::string>& padding) {
  if (plan.model == Model::tree) plan.switches = Normal(plan.switches).switches();
  const std::unordered_set<std::string_view> pads(padding.begin(), padding.end());
  for (auto& block : plan.blocks) {
    std::erase_if(block.nodes, [&](const std::string& node) { return pads.count(node) != 0; });
    block.padding.clear();
  }
  // Empty blocks at the end are not counted in any window; others hold their place.
  while (!plan.blocks.empty() && plan.blocks.back().nodes.empty()) plan.blocks.pop_back();
  return plan;
}

}  // namespace espalier::topology
