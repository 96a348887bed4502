#include "cli/topology_slurm.h"

#include <algorithm>

#include "slurm/hostlist.h"
#include "topology/sources/source.h"

namespace espalier::cli {

namespace {

// "TopologyPlugin = topology/tree" in `scontrol show config`.
std::string setting(std::string_view config, std::string_view key) {
  std::string out;
  topology::for_each_line(config, [&](std::string_view line, std::size_t) {
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && topology::trim(line.substr(0, equals)) == key)
      out = topology::trim(line.substr(equals + 1));
  });
  return out;
}

std::vector<std::string> node_names(std::string_view shown) {
  constexpr std::string_view kKey = "NodeName=";
  std::vector<std::string> out;
  topology::for_each_line(shown, [&](std::string_view line, std::size_t) {
    if (line.starts_with(kKey)) out.emplace_back(line.substr(kKey.size(), line.find(' ') - kKey.size()));
  });
  std::ranges::sort(out, slurm::natural_less);
  return out;
}

}  // namespace

Result<SlurmFacts> LocalSlurm::facts() {
  SlurmFacts out;
  auto version = scontrol({"--version"}).and_then([](const std::string& text) { return slurm::read_version(text); });
  if (!version) return tl::unexpected(version.error());
  out.version = *version;
  const auto config = scontrol({"show", "config"});
  if (!config) return tl::unexpected(config.error());
  out.folder = std::filesystem::path(setting(*config, "SLURM_CONF")).parent_path();
  out.plugin = setting(*config, "TopologyPlugin");
  if (out.folder.empty()) return fail(ErrorCode::kInternal, "`scontrol show config` does not say where slurm.conf is");
  const auto nodes = scontrol({"-o", "show", "nodes"});
  if (!nodes) return tl::unexpected(nodes.error());
  out.nodes = node_names(*nodes);
  return out;
}

Result<void> LocalSlurm::reconfigure() {
  const auto done = scontrol({"reconfigure"});
  if (!done) return tl::unexpected(done.error());
  const auto ping = scontrol({"ping"});
  if (ping && ping->find("is UP") != std::string::npos) return {};
  return fail(ErrorCode::kUnavailable, "slurmctld does not answer since the reconfigure");
}

Result<std::vector<topology::Shown>> LocalSlurm::shown(const slurm::Version& version) {
  const auto ask = [this](const char* what) {
    return scontrol({"show", what}).and_then([](const std::string& text) { return topology::read_shown(text); });
  };
  if (!slurm::release_of(version).topology_yaml) return ask("topology");
  // Of a topology.conf, 26.05 shows nothing there but a name.
  auto all = ask("topoconf");
  return all ? all : ask("topology");
}

Result<void> LocalSlurm::place(const std::string& hostlist, const std::string& topology) {
  const auto done = scontrol({"update", "NodeName=" + hostlist, "Topology=" + topology});
  if (!done) return tl::unexpected(done.error());
  return {};
}

Result<std::string> LocalSlurm::scontrol(std::vector<std::string> words) {
  words.insert(words.begin(), "scontrol");
  auto ran = run_(words);
  if (!ran) return fail(ran.error().code, "{}: {}", fmt::join(words, " "), ran.error().message);
  if (ran->status == 0) return std::move(ran->out);
  return fail(ErrorCode::kUnavailable, "{} ended with {}: {}", fmt::join(words, " "), ran->status,
              topology::trim(ran->err.empty() ? ran->out : ran->err));
}

}  // namespace espalier::cli
