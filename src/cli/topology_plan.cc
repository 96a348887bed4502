// `espalier topology plan` and `explain`.
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "cli/topology_alone.h"
#include "slurm/hostlist.h"

namespace espalier::cli {

namespace {

void print_text(Context& context, std::string_view text) {
  context.out << text;
  context.out.flush();
}

std::string_view model_name(const topology::ClusterPlan& plan) { return enum_name(plan.main().model); }

// What the user has to see to in slurm.conf; nothing of it is in a topology file.
std::vector<std::string> needs(const topology::ClusterPlan& plan, const topology::TopologyFiles& files) {
  std::vector<std::string> out;
  if (files.yaml.empty()) out.push_back(fmt::format("slurm.conf needs TopologyPlugin={}", files.plugin));
  if (!files.param.empty()) out.push_back(fmt::format("slurm.conf needs TopologyParam={}", files.param));
  if (const auto pads = topology::padding(plan); !pads.empty())
    out.push_back(
        fmt::format("slurm.conf needs NodeName={} State=FUTURE, which fill short blocks", slurm::compress(pads)));
  return out;
}

}  // namespace

Result<void> plan_topology(Context& context, const AloneOptions& options) {
  const auto made = make_plan(options, read_text);
  if (!made) return tl::unexpected(made.error());
  tell(context, made->left_out);
  const auto in_domain = [](const auto& node) { return !node.second.domain.empty(); };
  if (made->plan.main().model == topology::Model::block && std::ranges::none_of(made->located.positions, in_domain))
    tell(context, {"no source knows an NVLink domain of any node: these blocks say nothing about the network"});
  tell(context, made->plan.notes);
  if (made->plan.main().model == topology::Model::flat)
    return fail(ErrorCode::kNotFound, "There is no topology to write: {}", made->plan.choice.because);
  const auto files = topology::render(made->plan);
  tell(context, {fmt::format("{}: {}", model_name(made->plan), made->plan.choice.because)});
  tell(context, needs(made->plan, files));
  print_text(context, files.yaml.empty() ? files.conf : files.yaml);
  return {};
}

Result<void> explain_topology(Context& context, const AloneOptions& options, const std::string& of) {
  const auto made = make_plan(options, read_text);
  if (!made) return tl::unexpected(made.error());
  auto wanted = slurm::expand(of);
  if (!wanted) return tl::unexpected(wanted.error());
  print(context, fmt::format("{} for {}: {}", model_name(made->plan), slurm::describe(made->plan.version),
                             made->plan.choice.because));
  for (const auto& note : made->plan.notes) print(context, note);
  Table table({"NODE", "IN SLURM", "IN THE FABRIC"});
  const auto places = topology::places(made->plan);
  if (wanted->empty())
    for (const auto& [node, place] : places) wanted->push_back(node);
  for (const auto& node : *wanted) {
    const auto place = places.find(node);
    const auto position = made->located.positions.find(node);
    table.add({node, place == places.end() ? "" : place->second,
               position == made->located.positions.end() ? "no source knows it" : describe(position->second)});
  }
  print(context, table);
  tell(context, made->left_out);
  return {};
}

}  // namespace espalier::cli
