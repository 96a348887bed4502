// What the API costs on a cluster of 100,000 nodes, engine and sockets aside: requests as text in, answers out.
#include <benchmark/benchmark.h>

#include "api/api.h"
#include "api/fake_clusters_test.h"

namespace espalier::api {
namespace {

constexpr int kNodes = 100'000;
constexpr int kGroups = 20;

FakeClusters& big_cluster() {
  static FakeClusters clusters = [] {
    FakeClusters out;
    ClusterState& state = out.states[ClusterId("bigbigbigbig")];
    state.cluster.id = ClusterId("bigbigbigbig");
    state.cluster.name = "big";
    state.cluster.region = "us-west-2";
    state.cluster.account = "000000000000";
    Random random(1);
    for (int g = 0; g < kGroups; ++g) {
      Group group;
      group.name = fmt::format("group-{}", g);
      group.instance_type = "ml.p5.48xlarge";
      group.target_count = kNodes / kGroups;
      state.groups[group.name] = group;
    }
    for (int n = 0; n < kNodes; ++n) {
      Slot slot;
      slot.id = SlotId(random.uuid());
      slot.group = fmt::format("group-{}", n % kGroups);
      slot.number = n / kGroups + 1;
      slot.instance_type = "ml.p5.48xlarge";
      slot.node_name = fmt::format("{}-{}", slot.group, slot.number);
      slot.state = SlotState::Ready;
      auto& machine = slot.machine.emplace();
      machine.id = MachineId(fmt::format("i-{:017x}", n));
      machine.address = "10.77.1.2";
      machine.launched_at = Time(Millis(n));
      state.slots[slot.id] = slot;
    }
    return out;
  }();
  return clusters;
}

std::string ask(Api& api, const std::string& operation, const std::string& body) {
  std::string answer;
  api.handle({"POST", "/", {{"X-Amz-Target", "SageMaker." + operation}}, body, "127.0.0.1"},
             [&](const http::Response& response) { answer = response.body; });
  return answer;
}

void run(benchmark::State& state, const std::string& operation, const std::string& body) {
  Api api(big_cluster(), {}, nullptr, Random(1));
  for (auto _ : state) {
    const auto answer = ask(api, operation, body);
    if (answer.find("__type") != std::string::npos) state.SkipWithError(answer.c_str());
    benchmark::DoNotOptimize(answer);
  }
}

void list_first_page(benchmark::State& state) { run(state, "ListClusterNodes", R"({"ClusterName": "big"})"); }
void list_by_name(benchmark::State& state) {
  run(state, "ListClusterNodes", R"({"ClusterName": "big", "SortBy": "NAME", "SortOrder": "Descending"})");
}
void describe_cluster(benchmark::State& state) { run(state, "DescribeCluster", R"({"ClusterName": "big"})"); }
void describe_node(benchmark::State& state) {
  run(state, "DescribeClusterNode", R"({"ClusterName": "big", "NodeId": "i-00000000000001869"})");
}

BENCHMARK(list_first_page)->Unit(benchmark::kMillisecond);
BENCHMARK(list_by_name)->Unit(benchmark::kMillisecond);
BENCHMARK(describe_cluster)->Unit(benchmark::kMillisecond);
BENCHMARK(describe_node)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier::api
