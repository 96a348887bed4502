// `espalier topology apply` and `watch`: the topology of a Slurm that runs on this host, made true and kept so.
#include <csignal>
#include <ostream>

#include "base/file.h"
#include "cli/topology_alone.h"
#include "cli/topology_apply.h"

namespace espalier::cli {

namespace {

Result<TopologyState> load_state(const std::string& file) {
  std::error_code ec;
  if (file.empty() || !std::filesystem::exists(file, ec)) return TopologyState{};
  auto state = read_file(file).and_then(parse_json).and_then(from_json<TopologyState>);
  if (!state) return fail(state.error().code, "{}: {}", file, state.error().message);
  return state;
}

Result<void> save_state(const std::string& file, const TopologyState& state) {
  if (file.empty()) return {};
  return write_file(file, pretty_json(to_json(state)) + "\n");
}

// Nodes that Slurm no longer has are gone: what is known of them goes too.
void forget_gone(topology::Positions& positions, const std::vector<std::string>& nodes) {
  const std::set<std::string> all(nodes.begin(), nodes.end());
  std::erase_if(positions, [&](const auto& known) { return !all.contains(known.first); });
}

// A file of the user's, if it is there: by default the one that slurmctld has now.
Result<topology::Positions> load_kept(const AloneOptions& options, const SlurmFacts& facts) {
  if (!options.keep.empty()) return read_text(options.keep).and_then(topology::kept_positions);
  for (const char* name : {"topology.yaml", "topology.conf"})
    if (const auto text = read_file(facts.folder / name)) return topology::kept_positions(*text);
  return topology::Positions{};
}

std::string sentence(const Applied& applied) {
  switch (applied.outcome) {
    case Outcome::unchanged:
      return "slurmctld has it";
    case Outcome::moved:
      return fmt::format("{} differences, mended by moving nodes; read back", applied.changes.size());
    case Outcome::reconfigured:
      return fmt::format("{} differences, mended by a reconfigure; read back", applied.changes.size());
  }
  return "";
}

// One round: look, plan, apply. `last` is what was said, so that the same is not said again.
class Round {
 public:
  Round(Context& context, const ApplyOptions& options)
      : context_(context), options_(options), slurm_([](const auto& argv) { return run(argv); }) {}

  Result<void> go(bool tolerant) {
    auto request = request_of(options_.plan);
    if (!request) return tl::unexpected(request.error());
    const auto facts = slurm_.facts();
    if (!facts) return tl::unexpected(facts.error());
    auto state = load_state(options_.state);
    if (!state) return tl::unexpected(state.error());
    auto now = look(*facts, *state, tolerant);
    if (!now) return tl::unexpected(now.error());
    const auto kept = load_kept(options_.plan, *facts);
    if (!kept) return fail(kept.error().code, "the topology file that is to be kept: {}", kept.error().message);
    request->nodes = facts->nodes;
    request->version = facts->version;
    request->positions = now->positions;
    request->kept = *kept;
    const auto plan = topology::plan_alone(*request, state->memory);
    if (plan.main().model == topology::Model::flat)
      return fail(ErrorCode::kNotFound, "nothing is applied: {}", plan.choice.because);
    const auto applied = apply(plan, *facts, slurm_);
    if (!applied) return tl::unexpected(applied.error());
    report(plan, *now, *applied);
    state->positions = now->positions;
    return save_state(options_.state, *state);
  }

 private:
  Result<topology::Located> look(const SlurmFacts& facts, TopologyState& state, bool tolerant) {
    const auto sources = sources_of(options_.plan, facts.nodes);
    auto now = tolerant ? load_what_answers(sources, read_text) : load(sources, read_text);
    if (!now) return tl::unexpected(now.error());
    forget_gone(state.positions, facts.nodes);
    forget_gone(now->positions, facts.nodes);
    now->positions = topology::keep_names(std::move(now->positions), state.positions);
    return topology::keep_last_known(std::move(*now), state.positions);
  }

  void report(const topology::ClusterPlan& plan, const topology::Located& now, const Applied& applied) {
    auto lines = now.left_out.lines();
    lines.insert(lines.end(), plan.notes.begin(), plan.notes.end());
    if (lines != last_) tell(context_, lines);
    last_ = std::move(lines);
    auto said = fmt::format("{} ({}): {}", enum_name(plan.main().model), plan.choice.because, sentence(applied));
    if (said == said_) return;
    for (const auto& change : applied.changes) print(context_, "  " + change);
    print(context_, said);
    said_ = std::move(said);
  }

  Context& context_;
  const ApplyOptions& options_;
  LocalSlurm slurm_;
  std::vector<std::string> last_;
  std::string said_;
};

// SIGTERM and SIGINT end a watch between two rounds, never between a file and what slurmctld is told of it.
class Stop {
 public:
  Stop() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~Stop() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  // True: one has come within this time.
  bool comes_within(Millis time) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec limit{seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
    return sigtimedwait(&signals_, nullptr, &limit) > 0;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace

Result<void> apply_topology(Context& context, const ApplyOptions& options) { return Round(context, options).go(false); }

Result<void> watch_topology(Context& context, const WatchOptions& options) {
  Round round(context, options.apply);
  const Stop stop;
  std::string last;
  for (int n = 1;; ++n) {
    const auto done = round.go(true);
    if (!done && done.error().code == ErrorCode::kInvalid && n == 1) return done;  // wrong options
    const auto failure = done ? "" : done.error().message;
    if (!failure.empty() && failure != last) context.err << failure << "; it is tried again" << std::endl;
    last = failure;
    if (n == options.rounds) return done;
    if (stop.comes_within(options.interval)) return {};
  }
}

}  // namespace espalier::cli
