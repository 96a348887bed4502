// The control plane at scale, in the simulated world: a cloud, machines and Slurm that take no time, so that what is
// measured is ours (and the agents' side of the simulation, in the same thread). SQLite on the disk under $TMPDIR.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/random.h"
#include "simulation.h"

namespace espalier::sim {
namespace {

constexpr Millis kMinute{60'000};
constexpr Millis kLong = 600 * kMinute;
constexpr int kGroup = 5'000;
constexpr int kCluster = 10'000;  // nodes; Slurm's own table holds 65,536

// A world that takes no time, on a state file that ends with it.
class QuickWorld {
 public:
  QuickWorld() {
    std::filesystem::create_directory(folder_);
    Options options;
    options.file = folder_ / "state.db";
    options.checks = false;
    options.counters = &counters_;
    options.calls.at_once = true;
    MachinePace& pace = options.machines;
    for (Millis* takes :
         {&pace.boot_from, &pace.boot_to, &pace.setup_from, &pace.setup_to, &pace.slurm_from, &pace.slurm_to})
      *takes = Millis(0);
    pace.register_every = Millis(100);
    options.network_slowest = Millis(0);
    world_.emplace(1, options);
    world_->user().watches = false;  // of 30,000 events at once the oldest are pruned before they are watched
    world_->start();
  }
  ~QuickWorld() {
    world_.reset();
    std::filesystem::remove_all(folder_);
  }
  QuickWorld(const QuickWorld&) = delete;
  QuickWorld& operator=(const QuickWorld&) = delete;

  // So many nodes in groups and clusters; returns when all are Ready.
  void grow(int nodes) {
    for (int cluster = 0; cluster * kCluster < nodes; ++cluster) {
      WishedCluster wish{true, {{"ctl", {"Controller", "ml.m5.xlarge", 1}}}};
      const int in_cluster = std::min(kCluster, nodes - cluster * kCluster);
      for (int group = 0; group * kGroup < in_cluster; ++group)
        wish.groups[fmt::format("g{}", group)] = {"Compute", "ml.p5.48xlarge",
                                                  std::min(kGroup, in_cluster - group * kGroup)};
      world_->user().wish_for(name(cluster), wish);
      world_->user().create(name(cluster));
    }
    await_all();
  }
  void await_all() {
    Time looked{};
    const bool all = world_->run(kLong, [&] {
      if (world_->nature().now() < looked + Millis(100)) return false;
      looked = world_->nature().now();
      const auto& wishes = world_->user().wishes();
      return std::all_of(wishes.begin(), wishes.end(), [&](const auto& item) { return world_->complete(item.first); });
    });
    if (all) return;
    for (const auto& what : world_->broken()) fmt::print(stderr, "{}\n", what);
    fmt::print(stderr, "not all are Ready: the figures mean nothing\n");
    std::abort();
  }
  static std::string name(int cluster) { return fmt::format("c{}", cluster); }
  Simulation& operator*() { return *world_; }
  Simulation* operator->() { return &*world_; }
  Counters& counters() { return counters_; }

 private:
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("espalier-bench-" + secret_hex(8));
  Counters counters_;
  std::optional<Simulation> world_;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<std::size_t>(part * static_cast<double>(values.size())))];
}

// From CreateCluster to all Ready.
void grow(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0));
  for (auto _ : state) {
    QuickWorld world;
    world.grow(nodes);
    const double thousands = nodes / 1000.0;
    double in_steps = 0;
    for (const double took : world.counters().step_seconds) in_steps += took;
    state.counters["provider_calls_per_1000"] =
        static_cast<double>(world.counters().launches + world.counters().lists) / thousands;
    state.counters["in_steps_s"] = in_steps;
    state.counters["steps"] = static_cast<double>(world.counters().step_seconds.size());
    state.counters["reconfigures"] = world->slurm("c0").reconfigures;
  }
  state.counters["nodes_per_s"] =
      benchmark::Counter(static_cast<double>(nodes), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(grow)
    ->Arg(1'000)
    ->Arg(3'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();

// The process is dropped and starts again: until it has loaded everything, and until it has launched for a new wish.
void restart(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0));
  QuickWorld world;
  world.grow(nodes);
  for (auto _ : state) {
    world->crash();
    const auto begin = std::chrono::steady_clock::now();
    world->start();
    state.counters["loaded_s"] = seconds_since(begin);
    const auto launches = world.counters().launches;
    world->user().wishes()["c0"].groups["g0"].count = kGroup + 1;
    world->user().update("c0");
    world->run(kLong, [&] { return world.counters().launches > launches; });
    state.counters["launched_s"] = seconds_since(begin);
  }
}
BENCHMARK(restart)->Arg(3'000)->Arg(10'000)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

// Machines die and wishes change all the time: how long one step of an actor takes, its commit included.
void churn(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0));
  QuickWorld world;
  world.grow(nodes);
  Random random(1);
  for (auto _ : state) {
    world.counters().step_seconds.clear();
    for (int i = 0; i < 60; ++i) {
      for (int k = 0; k < 10; ++k)
        world->kill("c0", fmt::format("g{}-{}", random.below(2), 1 + random.below(kGroup - 100)));
      world->user().wishes()["c0"].groups["g1"].count = kGroup - static_cast<int>(random.below(50));
      world->user().update("c0");
      world->run(Millis(1'000));
    }
    const auto& took = world.counters().step_seconds;
    state.counters["steps"] = static_cast<double>(took.size());
    state.counters["p50_ms"] = 1000 * percentile(took, 0.5);
    state.counters["p99_ms"] = 1000 * percentile(took, 0.99);
    state.counters["most_ms"] = 1000 * percentile(took, 1);
  }
}
BENCHMARK(churn)->Arg(10'000)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

// EC2's documented bucket, 1,000 launches at once and then 2 a second: how much longer it takes than the bucket allows.
void bucket(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0));
  constexpr int kBurst = 1'000;
  constexpr int kPerSecond = 2;
  for (auto _ : state) {
    QuickWorld world;
    world->cloud().set_bucket(kBurst, kPerSecond);
    const Time begin = world->nature().now();
    world.grow(nodes);
    const double took = static_cast<double>((world->nature().now() - begin).count()) / 1000.0;
    const double least = static_cast<double>(nodes + 1 - kBurst) / kPerSecond;
    state.counters["virtual_s"] = took;
    state.counters["over_percent"] = 100 * (took - least) / least;
    state.counters["launch_calls_per_machine"] = static_cast<double>(world.counters().launches) / nodes;
  }
}
BENCHMARK(bucket)->Arg(3'000)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

}  // namespace
}  // namespace espalier::sim
