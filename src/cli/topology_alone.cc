#include "cli/topology_alone.h"

#include <fmt/ranges.h>

#include <ostream>

#include "slurm/hostlist.h"

namespace espalier::cli {

Result<topology::AloneRequest> request_of(const AloneOptions& options) {
  topology::AloneRequest out;
  const auto version = slurm::read_version(options.slurm);
  if (!version) return tl::unexpected(version.error());
  const auto preference = topology::read_preference(options.model);
  if (!preference) return tl::unexpected(preference.error());
  auto nodes = slurm::expand(options.nodes);
  if (!nodes) return fail(ErrorCode::kInvalid, "--nodes: {}", nodes.error().message);
  out.version = *version;
  out.preference = *preference;
  out.nodes = std::move(*nodes);
  out.base_size = options.block_size;
  return out;
}

SourcesOptions sources_of(const AloneOptions& options, const std::vector<std::string>& nodes) {
  return {options.sources, options.names, nodes};
}

Result<Made> make_plan(const AloneOptions& options, const ReadText& read) {
  auto request = request_of(options);
  if (!request) return tl::unexpected(request.error());
  auto located = load(sources_of(options, request->nodes), read);
  if (!located) return tl::unexpected(located.error());
  request->positions = located->positions;
  if (!options.keep.empty()) {
    auto kept = read(options.keep).and_then([](const std::string& text) { return topology::kept_positions(text); });
    if (!kept) return fail(kept.error().code, "{}: {}", options.keep, kept.error().message);
    request->kept = std::move(*kept);
  }
  topology::Memory memory;
  Made out{topology::plan_alone(*request, memory), std::move(*located), {}};
  out.left_out = out.located.left_out.lines();
  return out;
}

std::string describe(const Position& position) {
  auto out = fmt::format("{}", fmt::join(position.network_nodes, " / "));
  if (position.domain.empty()) return out;
  return out + (out.empty() ? "domain " : ", domain ") + position.domain;
}

void tell(Context& context, const std::vector<std::string>& lines) {
  for (const auto& line : lines) context.err << line << '\n';
}

}  // namespace espalier::cli
