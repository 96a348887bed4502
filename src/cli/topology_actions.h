// `espalier topology …` for any Slurm, without a control plane; topology_commands.cc parses the options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/topology_sources.h"
#include "topology/sources/alone.h"

namespace espalier::cli {

struct AloneOptions {
  std::vector<SourceOption> sources;
  std::string names;  // file
  std::string nodes;  // host list
  std::string model = "auto";
  std::string slurm = "24.11";
  std::string keep;  // a topology file: nodes that no source knows stay where it has them
  int block_size = topology::kNominalBlock;
};
// Prints the file; why it is so, and what was left out, on standard error.
Result<void> plan_topology(Context& context, const AloneOptions& options);
// Model, reason, and where each of `of` hangs and by what; all nodes when it is empty.
Result<void> explain_topology(Context& context, const AloneOptions& options, const std::string& of);

// What slurmctld of that version would refuse or lose, with line numbers. kFailed when it would refuse the file.
Result<int> check_topology(Context& context, const std::string& file, const std::string& slurm,
                           const std::string& nodes);
// How the topologies of two files differ, as slurmctld sees them. kFailed when they do.
Result<int> diff_topologies(Context& context, const std::string& before, const std::string& after);

struct ApplyOptions {
  AloneOptions plan;  // its nodes and version are those of the running Slurm
  std::string state;  // file with what was known before; empty: none is kept
};
Result<void> apply_topology(Context& context, const ApplyOptions& options);

struct WatchOptions {
  ApplyOptions apply;
  Millis interval{60'000};
  int rounds = 0;  // 0: for ever
};
// Applies again and again. What fails is told and tried again; a source that is away leaves what was known.
Result<void> watch_topology(Context& context, const WatchOptions& options);

struct ScoreOptions {
  AloneOptions plan;   // the truth
  std::string jobs;    // "ID HOSTLIST" a line
  std::string mix;     // instead: sizes of jobs, or @FILE with them
  std::string before;  // the same jobs, placed otherwise
  std::string idle;    // host list; empty: all nodes that no job has
};
Result<void> score_topology(Context& context, const ScoreOptions& options);

}  // namespace espalier::cli
