// sim_run: lives of simulated worlds.
//
//   sim_run --seed 17 [--trace]    one, with its trace on request; run twice it has the same trace
//   sim_run --seeds 1-2000         many; stops at the first that fails
#include <CLI/CLI.hpp>
#include <chrono>

#include "simulation.h"

namespace espalier::sim {
namespace {

struct Life {
  bool well = false;
  std::uint64_t trace = 0;
};

std::string program;

Life live(std::uint64_t seed, std::FILE* out) {
  Options options = life(seed);
  options.trace = out;
  Simulation simulation(seed, options);
  const bool well = simulation.live();
  for (const auto& what : simulation.broken()) fmt::print("seed {}: {}\n", seed, what);
  if (!well)
    fmt::print("seed {} fails with faults: {}\nto see it again: {} --seed {} --trace\n", seed, simulation.faults(),
               program, seed);
  return {well, simulation.trace_hash()};
}

bool live_twice(std::uint64_t seed) {
  const Life first = live(seed, nullptr);
  if (!first.well) return false;
  const Life second = live(seed, nullptr);
  if (first.trace != second.trace) fmt::print("seed {} does not run the same way twice\n", seed);
  return first.trace == second.trace;
}

int live_many(std::uint64_t from, std::uint64_t to, std::uint64_t step, bool go_on) {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t lives = 0;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = from; seed <= to; seed += step, ++lives) {
    // Every hundredth twice: the same seed must make the same trace.
    const bool well = seed % 100 == 0 ? live_twice(seed) : live(seed, nullptr).well;
    if (!well) ++failed;
    std::fflush(stdout);
    if (!well && !go_on) return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{} lives, {} failed, {:.1f} s\n", lives, failed, took.count());
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace espalier::sim

int main(int argc, char** argv) {
  CLI::App app("Lives of simulated worlds, each from a seed");
  std::uint64_t seed = 0;
  std::string seeds;
  std::uint64_t step = 1;
  bool trace = false;
  bool go_on = false;
  app.add_option("--seed", seed, "one life");
  app.add_option("--seeds", seeds, "FROM-TO: many lives; FROM-: without end");
  app.add_option("--step", step, "of these, every so many");
  app.add_flag("--trace", trace, "print what happens");
  app.add_flag("--go-on", go_on, "do not stop at the first that fails");
  CLI11_PARSE(app, argc, argv);
  espalier::sim::program = argv[0];
  if (seeds.empty()) {
    const auto life = espalier::sim::live(seed, trace ? stdout : nullptr);
    fmt::print("seed {}: {}, trace {:016x}\n", seed, life.well ? "well" : "FAILED", life.trace);
    return life.well ? 0 : 1;
  }
  const auto dash = seeds.find('-');
  const std::string to = dash == std::string::npos ? seeds : seeds.substr(dash + 1);
  return espalier::sim::live_many(std::stoull(seeds), to.empty() ? UINT64_MAX : std::stoull(to), step, go_on);
}
