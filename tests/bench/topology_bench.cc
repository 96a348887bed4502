// From positions to a checked file, for Slurm's largest cluster: 65,536 nodes.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "base/random.h"
#include "topology/check.h"
#include "topology/compare.h"
#include "topology/patch.h"

namespace espalier::topology {
namespace {

constexpr slurm::Version kOld{24, 11, 5}, kNew{26, 5, 5};

// As rows come from a store: in no order.
void shuffle(std::vector<Member>& members) {
  Random random(1);
  for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random.below(i)]);
}

// Three layers: 16 machines on a leaf, 16 leaves on a spine.
Request three_layers(slurm::Version version) {
  Request out;
  out.version = version;
  out.groups = {{"p5", "p5", {"ml.p5.48xlarge"}}};
  for (int i = 0; i < 65'536; ++i)
    out.members.push_back({fmt::format("p5-{}", i + 1), "ml.p5.48xlarge",
                           Position{{fmt::format("nn-core-{}", i / 4096), fmt::format("nn-spine-{}", i / 256),
                                     fmt::format("nn-leaf-{}", i / 16)},
                                    ""},
                           "p5", i + 1});
  shuffle(out.members);
  return out;
}

// 3,640 NVL72 racks of 18.
Request racks(slurm::Version version) {
  Request out;
  out.version = version;
  out.groups = {{"gb200", "gb200", {"ml.p6e-gb200.36xlarge"}}};
  for (int i = 0; i < 3640 * 18; ++i)
    out.members.push_back({fmt::format("gb200-{}", i + 1), "ml.p6e-gb200.36xlarge",
                           Position{{fmt::format("nn-core-{}", i / 4608), fmt::format("nn-spine-{}", i / 288),
                                     fmt::format("nn-leaf-{}", i / 18)},
                                    fmt::format("domain-{}", i / 18)},
                           "gb200", i + 1});
  shuffle(out.members);
  return out;
}

void plan_render_check(benchmark::State& state, const Request& request) {
  Memory memory;
  const auto before = mallinfo2().uordblks;
  std::size_t bytes = 0, held = 0;
  for (auto _ : state) {
    const auto plan = plan_cluster(request, memory);
    const auto files = render(plan);
    if (!check(plan, request.members)) state.SkipWithError("the plan was refused");
    bytes = files.conf.size() + files.yaml.size();
    held = mallinfo2().uordblks - before;
  }
  state.counters["file_kB"] = static_cast<double>(bytes) / 1000;
  state.counters["held_MB"] = static_cast<double>(held) / 1e6;
}

void part(benchmark::State& state, const Request& request, int what) {
  Memory memory;
  const auto plan = plan_cluster(request, memory);
  for (auto _ : state) {
    if (what == 0) benchmark::DoNotOptimize(plan_cluster(request, memory));
    if (what == 1) benchmark::DoNotOptimize(render(plan));
    if (what == 2) benchmark::DoNotOptimize(check(plan, request.members));
  }
}

// One machine hangs elsewhere, or (of a rack) is lost and comes back: plan, file and where to move the node.
void one_change(benchmark::State& state, const Request& request, bool elsewhere) {
  Memory memory;
  auto plan = plan_cluster(request, memory);
  auto files = render(plan);
  Patcher patcher(request, plan, memory);
  Member here = request.members[1], there = here;
  there.position.reset();
  if (elsewhere) there.position = request.members[2].position;
  bool back = true;
  for (auto _ : state) {
    back = !back;
    if (!patcher.move(back ? here : there, plan, files)) state.SkipWithError("it was planned anew");
    benchmark::DoNotOptimize(patcher.place_of(here.node_name, plan));
  }
}

BENCHMARK_CAPTURE(plan_render_check, three_layers_24_11, three_layers(kOld))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_render_check, three_layers_26_05, three_layers(kNew))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_render_check, racks_24_11, racks(kOld))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_render_check, racks_26_05, racks(kNew))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(part, three_layers_plan, three_layers(kOld), 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(part, three_layers_render, three_layers(kOld), 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(part, three_layers_check, three_layers(kOld), 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(part, racks_plan, racks(kOld), 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(part, racks_check, racks(kOld), 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(one_change, three_layers_24_11, three_layers(kOld), true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(one_change, three_layers_26_05, three_layers(kNew), true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(one_change, racks_24_11, racks(kOld), false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(one_change, racks_26_05, racks(kNew), false)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace espalier::topology
