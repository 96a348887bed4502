// The API under load, beside what its HTTP library does with the same requests in the same run: requests a second and
// the slowest hundredth. 100,000 slots lie in the engine, 65,000 of them in one cluster, and what is created goes to a
// state file. Eight clients, each with a connection of its own; their signing is in the figures, also in the library's.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>

#include "control_plane.h"

namespace espalier::bench {
namespace {

constexpr int kClients = 8;

ControlPlane& control_plane() {
  static ControlPlane it;
  return it;
}

// Of the 65,000, made once: the beginning of every request on it. Its first answer waits for its plan, some 0.7 s.
const std::string& big() {
  static const std::string name = [] {
    make_big_clusters(control_plane());
    const std::string request = R"({"ClusterName": "big")";
    Client(control_plane(), control_plane().listener->port()).ask("SageMaker.DescribeCluster", request + "}");
    return request;
  }();
  return name;
}

// Asks as long as the benchmark lasts; `body` makes each request's body.
template <typename Body>
void load(benchmark::State& state, std::uint16_t port, const std::string& target, const Body& body) {
  using Clock = std::chrono::steady_clock;
  Client client(control_plane(), port);
  std::vector<double> times;
  body();  // makes what is asked about
  for (auto _ : state) {
    const auto start = Clock::now();
    const auto answer = client.ask(target, body());
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    if (answer.status != 200) state.SkipWithError(answer.body.c_str());
  }
  std::ranges::sort(times);
  state.SetItemsProcessed(state.iterations());
  if (!times.empty())
    state.counters["p99_ms"] = benchmark::Counter(times[times.size() * 99 / 100], benchmark::Counter::kAvgThreads);
}

void of_listener(benchmark::State& state, const std::string& operation, const std::string& members) {
  load(state, control_plane().listener->port(), "SageMaker." + operation, [&] { return big() + members + "}"; });
}

void library_alone(benchmark::State& state) {
  load(state, control_plane().library->port(), "SageMaker.DescribeCluster", [] { return big() + "}"; });
}
void describe(benchmark::State& state) { of_listener(state, "DescribeCluster", ""); }
void list_first_page(benchmark::State& state) {
  of_listener(state, "ListClusterNodes", R"(, "IncludeNodeLogicalIds": true)");
}
void list_by_name_from_the_end(benchmark::State& state) {
  of_listener(state, "ListClusterNodes",
              R"(, "IncludeNodeLogicalIds": true, "SortBy": "NAME", "SortOrder": "Descending")");
}
// None of the slots has a machine: all are passed over.
void list_nothing_of_65000(benchmark::State& state) { of_listener(state, "ListClusterNodes", ""); }
void create(benchmark::State& state) {
  static std::atomic<int> clusters = 0;
  load(state, control_plane().listener->port(), "SageMaker.CreateCluster",
       [] { return create_body(fmt::format("c{}", ++clusters), 1, 4); });
}
BENCHMARK(library_alone)->Threads(kClients)->UseRealTime();
BENCHMARK(describe)->Threads(kClients)->UseRealTime();
BENCHMARK(list_first_page)->Threads(kClients)->UseRealTime();
BENCHMARK(list_by_name_from_the_end)->Threads(kClients)->UseRealTime();
BENCHMARK(list_nothing_of_65000)->Threads(kClients)->UseRealTime();
BENCHMARK(create)->Threads(kClients)->UseRealTime()->Iterations(50);

}  // namespace
}  // namespace espalier::bench
