#include "cli/topology_commands.h"

#include <CLI/CLI.hpp>

#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/exit_code.h"

namespace espalier::cli {

namespace {

constexpr const char* kSources =
    "ec2=, ibnetdiscover=, nvlink=, model=, csv= or yaml= with a FILE, '-', or '|COMMAND'; again for more, the first "
    "that knows counts";

template <typename F>
std::function<Result<int>(Context&)> done(F action) {
  return [action](Context& context) -> Result<int> {
    if (auto ok = action(context); !ok) return tl::unexpected(ok.error());
    return kOk;
  };
}

CLI::Option* add_sources(CLI::App* app, AloneOptions& options) {
  const auto read = [&options](const std::vector<std::string>& texts) {
    for (const auto& text : texts) {
      auto source = parse_source(text);
      if (!source) throw CLI::ValidationError("--source", source.error().message);
      options.sources.push_back(std::move(*source));
    }
  };
  app->add_option("--names", options.names, "File with 'ID NAME' lines, where sources do not say Slurm's node names");
  return app->add_option_function<std::vector<std::string>>("--source", read, kSources)
      ->allow_extra_args(false)
      ->required();
}

void add_model(CLI::App* app, AloneOptions& options) {
  app->add_option("--model", options.model, "auto, tree or block")
      ->check(CLI::IsMember({"auto", "tree", "block"}))
      ->capture_default_str();
  app->add_option("--block-size", options.block_size, "Nodes of a whole NVLink domain")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app->add_option("--keep", options.keep, "Topology file with switches to keep, for nodes that no source knows");
}

CLI::Option* add_plan_options(CLI::App* app, AloneOptions& options) {
  auto* source = add_sources(app, options);
  add_model(app, options);
  app->add_option("--slurm", options.slurm, "Version of Slurm")->capture_default_str();
  app->add_option("--nodes", options.nodes, "Host list of all of Slurm's nodes (default: those of the sources)");
  return source;
}

void add_apply_options(CLI::App* app, ApplyOptions& options) {
  add_sources(app, options.plan);
  add_model(app, options.plan);
  app->get_option("--keep")->description(
      "Topology file with switches to keep, for nodes that no source knows (default: the one in use)");
  app->add_option("--state", options.state, "File that keeps what was known, for answers that are partial or late");
}

void add_reading(CLI::App& topology, TopologyOptions& options, const CommandMaker& make) {
  auto* check = make.add(topology, "check", "What slurmctld would refuse or lose in a topology file, line by line",
                         "  espalier topology check topology.conf --slurm 24.11 --nodes n[1-64]\n");
  check->add_option("FILE", options.file, "topology.conf, or topology.yaml")->required();
  check->add_option("--slurm", options.slurm, "Version of Slurm")->required();
  check->add_option("--nodes", options.nodes, "Host list of the nodes in slurm.conf");
  make.act_on(check, [&options](Context& context) {
    return check_topology(context, options.file, options.slurm, options.nodes);
  });
  auto* diff = make.add(topology, "diff", "How two topology files differ for slurmctld; exit code 1 when they do",
                        "  espalier topology diff old.conf new.conf\n");
  diff->add_option("BEFORE", options.file, "Topology file")->required();
  diff->add_option("AFTER", options.other, "Topology file")->required();
  make.act_on(diff, [&options](Context& context) { return diff_topologies(context, options.file, options.other); });
}

void add_planning(CLI::App& topology, TopologyOptions& options, const CommandMaker& make) {
  auto& plan_options = options.watch.apply.plan;
  auto* plan = make.add(topology, "plan", "Print the topology file for machines that sources tell of",
                        "  espalier topology plan --source ec2=answers.json --names ids.txt --slurm 24.11\n"
                        "  espalier topology plan --source '|ibnetdiscover' --source nvlink=uuids.txt --slurm 26.05\n");
  add_plan_options(plan, plan_options);
  make.act_on(plan, done([&plan_options](Context& context) { return plan_topology(context, plan_options); }));
}

// Of a cluster of ours, or of what sources say.
void add_explaining(CLI::App& topology, TopologyOptions& options, const CommandMaker& make) {
  auto* explain = make.add(topology, "explain", "Why this model, and where a node hangs",
                           "  espalier topology explain demo\n  espalier topology explain demo p5-3\n"
                           "  espalier topology explain --source ec2=answers.json n[1-4]\n");
  auto* source = add_plan_options(explain, options.watch.apply.plan)->required(false);
  explain
      ->add_option("CLUSTER NODE", options.of, "Cluster, and one of its nodes; with --source: host list (default: all)")
      ->expected(0, 2);
  make.act_on(explain, [&options, source](Context& context) -> Result<int> {
    const auto& words = options.of;
    const auto first = words.empty() ? "" : words[0], second = words.size() < 2 ? "" : words[1];
    const bool alone = !source->empty();
    if (alone ? words.size() > 1 : words.empty())
      return fail(ErrorCode::kInvalid, "Give a cluster, or --source and at most one host list");
    const auto explained =
        alone ? explain_topology(context, options.watch.apply.plan, first) : explain_choice(context, first, second);
    if (!explained) return tl::unexpected(explained.error());
    return kOk;
  });
}

void add_applying(CLI::App& topology, TopologyOptions& options, const CommandMaker& make) {
  auto& watch_options = options.watch;
  auto* apply = make.add(topology, "apply", "Give it to the Slurm of this host, read it back, take it back if refused",
                         "  espalier topology apply --source csv=paths.csv\n");
  add_apply_options(apply, watch_options.apply);
  make.act_on(apply, done([&watch_options](Context& context) { return apply_topology(context, watch_options.apply); }));
  auto* watch = make.add(topology, "watch", "Keep the topology of this host's Slurm true, as a daemon",
                         "  espalier topology watch --source 'ibnetdiscover=|ibnetdiscover' --interval 60s --state "
                         "/var/lib/espalier/topology.json\n");
  add_apply_options(watch, watch_options.apply);
  const auto set_interval = [&watch_options](const std::string& text) {
    const auto interval = parse_duration(text);
    if (!interval) throw CLI::ValidationError("--interval", interval.error().message);
    watch_options.interval = *interval;
  };
  watch->add_option_function<std::string>("--interval", set_interval, "Time between two looks (default: 60s)");
  watch->add_option("--rounds", watch_options.rounds, "End after so many looks; 0: never")->capture_default_str();
  make.act_on(watch, done([&watch_options](Context& context) { return watch_topology(context, watch_options); }));
}

void add_scoring(CLI::App& topology, TopologyOptions& options, const CommandMaker& make) {
  auto* score = make.add(topology, "score", "How close jobs are placed, on where their nodes truly hang",
                         "  squeue -h -t R -o '%A %N' | espalier topology score --source ec2=answers.json --jobs -\n"
                         "  espalier topology score --source ec2=answers.json --mix 32x2,8x10,2x20\n");
  add_sources(score, options.score.plan);
  add_model(score, options.score.plan);
  auto* jobs = score->add_option("--jobs", options.score.jobs, "File with 'ID HOSTLIST' lines, nodes in rank order");
  score
      ->add_option("--mix", options.score.mix,
                   "Sizes of jobs, SIZE or SIZExCOUNT, or @FILE: placed by name (before) and by the topology (after)")
      ->excludes(jobs);
  score->add_option("--before", options.score.before, "The same of another time or placement, to compare with");
  score->add_option("--idle", options.score.idle, "Host list (default: all nodes that no job has)");
  score->add_option("--nodes", options.score.plan.nodes, "Host list that fills the leaves of a model");
  make.act_on(score, done([&options](Context& context) { return score_topology(context, options.score); }));
}

}  // namespace

void add_topology_commands(CLI::App& topology, TopologyOptions& options, const CommandMaker& make) {
  add_planning(topology, options, make);
  add_explaining(topology, options, make);
  add_reading(topology, options, make);
  add_applying(topology, options, make);
  add_scoring(topology, options, make);
}

}  // namespace espalier::cli
