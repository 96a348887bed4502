// `espalier topology score`.
#include <algorithm>
#include <ostream>
#include <set>

#include "cli/topology_alone.h"
#include "slurm/hostlist.h"
#include "topology/score.h"

namespace espalier::cli {

namespace {

Result<std::vector<topology::PlacedJob>> load_jobs(const std::string& file) {
  auto jobs = read_text(file).and_then([](const std::string& text) { return topology::read_jobs(text); });
  if (!jobs) return fail(jobs.error().code, "{}: {}", file, jobs.error().message);
  return jobs;
}

std::vector<std::string> not_in(const std::vector<topology::PlacedJob>& jobs, const topology::Positions& all) {
  std::set<std::string> busy;
  for (const auto& job : jobs) busy.insert(job.nodes.begin(), job.nodes.end());
  std::vector<std::string> out;
  for (const auto& [node, position] : all)
    if (!busy.contains(node)) out.push_back(node);
  return out;
}

}  // namespace

Result<void> score_topology(Context& context, const ScoreOptions& options) {
  const auto nodes = slurm::expand(options.plan.nodes);
  const auto idle = slurm::expand(options.idle);
  if (!nodes) return fail(ErrorCode::kInvalid, "--nodes: {}", nodes.error().message);
  if (!idle) return fail(ErrorCode::kInvalid, "--idle: {}", idle.error().message);
  const auto truth = load(sources_of(options.plan, *nodes), read_text);
  if (!truth) return tl::unexpected(truth.error());
  tell(context, truth->left_out.lines());
  const auto score_file = [&](const std::string& file) -> Result<topology::Score> {
    const auto jobs = load_jobs(file);
    if (!jobs) return tl::unexpected(jobs.error());
    return topology::score(truth->positions, *jobs, idle->empty() ? not_in(*jobs, truth->positions) : *idle);
  };
  const auto now = score_file(options.jobs);
  if (!now) return tl::unexpected(now.error());
  if (options.before.empty()) {
    context.out << topology::draw(*now);
    return {};
  }
  const auto before = score_file(options.before);
  if (!before) return tl::unexpected(before.error());
  context.out << topology::draw(*before, *now);
  return {};
}

}  // namespace espalier::cli
