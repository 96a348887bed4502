// `espalier topology score`.
#include <algorithm>
#include <ostream>
#include <set>

#include "cli/topology_alone.h"
#include "slurm/hostlist.h"
#include "topology/place.h"
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

// Jobs as they were placed.
Result<void> score_jobs(Context& context, const ScoreOptions& options) {
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

Result<std::vector<std::size_t>> load_mix(const std::string& mix) {
  if (!mix.starts_with('@')) return topology::read_mix(mix);
  auto sizes = read_text(mix.substr(1)).and_then([](const std::string& text) { return topology::read_mix(text); });
  if (!sizes) return fail(sizes.error().code, "{}: {}", mix.substr(1), sizes.error().message);
  return sizes;
}

// Jobs as they would be placed: before, by the names of the nodes; after, by the topology.
Result<void> score_mix(Context& context, const ScoreOptions& options) {
  const auto mix = load_mix(options.mix);
  if (!mix) return fail(mix.error().code, "--mix: {}", mix.error().message);
  const auto made = make_plan(options.plan, read_text);
  if (!made) return tl::unexpected(made.error());
  tell(context, made->left_out);
  if (made->plan.main().model == topology::Model::flat)
    return fail(ErrorCode::kNotFound, "There is no topology to compare with: {}", made->plan.choice.because);
  std::vector<std::string> nodes;
  for (const auto& [node, place] : topology::places(made->plan)) nodes.push_back(node);
  const auto& truth = made->located.positions;
  const auto before = topology::place(topology::Plan{}, nodes, *mix);
  const auto after = topology::place(made->plan.main(), nodes, *mix);
  context.out << topology::draw(topology::score(truth, before.jobs, before.idle),
                                topology::score(truth, after.jobs, after.idle));
  print(context, fmt::format("{:<30}{:<22}{}", "jobs that wait", before.waiting.size(), after.waiting.size()));
  tell(context, {fmt::format("before: nodes by their names; after: {} ({})", enum_name(made->plan.main().model),
                             made->plan.choice.because)});
  return {};
}

}  // namespace

Result<void> score_topology(Context& context, const ScoreOptions& options) {
  if (options.mix.empty() == options.jobs.empty())
    return fail(ErrorCode::kInvalid, "Give --jobs (where jobs are) or --mix (jobs that are to be placed)");
  return options.mix.empty() ? score_jobs(context, options) : score_mix(context, options);
}

}  // namespace espalier::cli
