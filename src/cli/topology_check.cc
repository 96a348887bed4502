// `espalier topology check` and `diff`.
#include <algorithm>
#include <ostream>

#include "cli/exit_code.h"
#include "cli/topology_actions.h"
#include "slurm/hostlist.h"
#include "topology/check.h"
#include "topology/compare.h"
#include "topology/shown.h"

namespace espalier::cli {

namespace {

Result<std::vector<topology::Shown>> read_topologies(const std::string& file) {
  auto shown = read_text(file).and_then([](const std::string& text) { return topology::read_file_text(text); });
  if (!shown) return fail(shown.error().code, "{}: {}", file, shown.error().message);
  return shown;
}

bool is_yaml(const std::string& file) { return file.ends_with(".yaml") || file.ends_with(".yml"); }

}  // namespace

Result<int> check_topology(Context& context, const std::string& file, const std::string& slurm,
                           const std::string& nodes) {
  const auto version = slurm::read_version(slurm);
  if (!version) return tl::unexpected(version.error());
  auto names = slurm::expand(nodes);
  if (!names) return fail(ErrorCode::kInvalid, "--nodes: {}", names.error().message);
  auto shown = read_topologies(file);
  if (!shown) return tl::unexpected(shown.error());
  topology::Given given;
  given.topologies = std::move(*shown);
  given.yaml = is_yaml(file);
  given.nodes = std::move(*names);
  const auto found = topology::problems(given, *version);
  for (const auto& problem : found)
    print(context, problem.line == 0
                       ? fmt::format("{}: {}: {}", file, enum_name(problem.severity), problem.text)
                       : fmt::format("{}:{}: {}: {}", file, problem.line, enum_name(problem.severity), problem.text));
  const bool fatal = std::ranges::any_of(found, [](const auto& p) { return p.severity == topology::Severity::fatal; });
  print(context, fmt::format("{}: {} {}", file, slurm::describe(*version),
                             fatal           ? "refuses it"
                             : found.empty() ? "takes it"
                                             : "takes it, with what is said above"));
  return fatal ? kFailed : kOk;
}

Result<int> diff_topologies(Context& context, const std::string& before, const std::string& after) {
  const auto a = read_topologies(before), b = read_topologies(after);
  if (!a) return tl::unexpected(a.error());
  if (!b) return tl::unexpected(b.error());
  std::vector<std::string> found;
  const auto named = [](const std::vector<topology::Shown>& list, const std::string& name) {
    return std::ranges::find(list, name, &topology::Shown::name);
  };
  for (const auto& each : *a)
    if (named(*b, each.name) == b->end())
      found.push_back(fmt::format("topology '{}' is only in {}", each.name, before));
  for (const auto& each : *b) {
    const auto other = named(*a, each.name);
    if (other == a->end()) {
      found.push_back(fmt::format("topology '{}' is only in {}", each.name, after));
      continue;
    }
    for (auto& line : topology::differences(topology::normal(each.plan), topology::normal(other->plan)))
      found.push_back(std::move(line));
  }
  for (const auto& line : found) print(context, line);
  return found.empty() ? kOk : kFailed;
}

}  // namespace espalier::cli
