#include <fmt/format.h>

#include "slurm/hostlist.h"
#include "topology/cluster_plan.h"
#include "topology/patch.h"

namespace espalier::topology {
namespace {

// One reader of slurmctld has tripped on files of exactly n pages.
constexpr std::size_t kPage = 4096;
constexpr std::string_view kHeader =
    "# Written by Espalier from the positions of the machines. Changes made here are overwritten.\n";

constexpr std::string_view kOffThePage = "#\n";

std::string off_the_page(std::string text) {
  if (!text.empty() && text.size() % kPage == 0) text += kOffThePage;
  return text;
}

std::string nodes_of(const Block& block) {
  auto out = slurm::compress(block.nodes);
  if (!out.empty() && !block.padding.empty()) out += ",";
  return out + slurm::compress(block.padding);
}

// 23.11 counts its levels as doublings of the base size.
std::string sizes_of(const Plan& plan, const slurm::Release& release) {
  std::string out;
  for (std::size_t i = 0; i < plan.block_sizes.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(release.equal_blocks ? static_cast<int>(i) : plan.block_sizes[i]);
  }
  return fmt::format("{}={}\n", release.block_sizes_key, out);
}

void write_conf(const Switch& line, std::string& out) {
  const bool is_leaf = line.switches.empty();
  out.append("SwitchName=").append(line.name).append(is_leaf ? " Nodes=" : " Switches=");
  out.append(slurm::compress(is_leaf ? line.nodes : line.switches)).append("\n");
}

void write_yaml(const Switch& line, std::string& out) {
  out.append("    - switch: \"").append(line.name).append("\"\n");
  if (!line.switches.empty()) out.append("      children: \"").append(slurm::compress(line.switches)).append("\"\n");
  if (!line.nodes.empty()) out.append("      nodes: \"").append(slurm::compress(line.nodes)).append("\"\n");
}

void write_yaml(const Plan& plan, bool is_default, std::string& out) {
  out += fmt::format("- topology: {}\n  cluster_default: {}\n", enum_name(plan.model), is_default);
  if (plan.model == Model::flat) out += "  flat: true\n";
  if (plan.model == Model::tree) out += "  tree:\n    switches:\n";
  for (const auto& line : plan.switches) write_yaml(line, out);
  if (plan.model != Model::block) return;
  out += "  block:\n    block_sizes:\n";
  for (const auto size : plan.block_sizes) out += fmt::format("    - {}\n", size);
  out += "    blocks:\n";
  for (const auto& block : plan.blocks) {
    out.append("    - block: \"").append(block.name).append("\"\n");
    if (auto nodes = nodes_of(block); !nodes.empty()) out.append("      nodes: \"").append(nodes).append("\"\n");
  }
}

}  // namespace

std::string render(const Plan& plan, const slurm::Version& version) {
  if (plan.model == Model::flat) return "";
  std::string out(kHeader);
  for (const auto& line : plan.switches) write_conf(line, out);
  for (const auto& block : plan.blocks)
    out.append("BlockName=").append(block.name).append(" Nodes=").append(nodes_of(block)).append("\n");
  if (plan.model == Model::block) out += sizes_of(plan, slurm::release_of(version));
  return off_the_page(std::move(out));
}

std::string plugin(const Plan& plan, const slurm::Version& version) {
  // 24.11 knows no topology/flat: its own scontrol dies of it.
  if (plan.model == Model::flat) return slurm::release_of(version).no_topology_plugin;
  return plan.model == Model::tree ? "topology/tree" : "topology/block";
}

std::string param(const ClusterPlan& plan) {
  const auto& release = slurm::release_of(plan.version);
  if (plan.main().model == Model::tree && release.switch_as_node_rank) return "SwitchAsNodeRank";
  if (plan.main().model == Model::block && release.block_as_node_rank) return "BlockAsNodeRank";
  return "";
}

TopologyFiles render(const ClusterPlan& plan) {
  TopologyFiles out;
  out.plugin = plugin(plan.main(), plan.version);
  out.param = param(plan);
  if (plan.main().model == Model::flat && plan.topologies.size() == 1) return out;
  if (!slurm::release_of(plan.version).topology_yaml) {
    out.conf = render(plan.main(), plan.version);
    return out;
  }
  out.yaml = kHeader;
  for (const auto& topology : plan.topologies) write_yaml(topology, &topology == &plan.main(), out.yaml);
  out.yaml = off_the_page(std::move(out.yaml));
  return out;
}

// The names of switches are unique in a file, so the lines are too.
void patch_text(const Switch& before, const Switch& after, TopologyFiles& files) {
  auto& text = files.yaml.empty() ? files.conf : files.yaml;
  const auto write = [&](const Switch& line) {
    std::string out;
    files.yaml.empty() ? write_conf(line, out) : write_yaml(line, out);
    return out;
  };
  const auto old = write(before);
  text.replace(text.find(old), old.size(), write(after));
  if (text.ends_with(std::string("\n").append(kOffThePage))) text.resize(text.size() - kOffThePage.size());
  text = off_the_page(std::move(text));
}

}  // namespace espalier::topology
