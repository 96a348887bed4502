#include "simulate/real_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <thread>

#include "base/random.h"

namespace espalier::simulate {
namespace {

constexpr const char* kCreate = R"({"ClusterName": "c", "NodeProvisioningMode": "Continuous",
  "Orchestrator": {"Slurm": {}}, "InstanceGroups": [
    {"InstanceGroupName": "ctl", "InstanceType": "ml.c5.xlarge", "InstanceCount": 1,
     "ExecutionRole": "arn:aws:iam::123456789012:role/example", "SlurmConfig": {"NodeType": "Controller"}},
    {"InstanceGroupName": "p5", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 8,
     "ExecutionRole": "arn:aws:iam::123456789012:role/example",
     "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]}}]})";

// A process: lives on a thread of its own until it goes.
class Process {
 public:
  Process(store::Store& store, const std::filesystem::path& pools, std::map<std::string, Pool> start = {})
      : world_({store,
                {},
                sim::CapacityModel::open(pools, std::move(start)).value(),
                1000,
                {},
                [](engine::Engine& engine, Capacity& capacity) {
                  return api::Services{engine, &capacity, {}, nullptr, nullptr};
                }}),
        thread_([this] { outcome_ = world_.live(); }) {}
  ~Process() {
    world_.stop();
    thread_.join();
    EXPECT_TRUE(outcome_) << outcome_.error().message;
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  json::object ask(const std::string& operation, const std::string& body) {
    auto promise = std::make_shared<std::promise<http::Response>>();
    const std::string target = operation.find('.') == std::string::npos ? "SageMaker." + operation : operation;
    world_.handle({"POST", "/", {{"X-Amz-Target", target}}, body, "127.0.0.1"},
                  [promise](http::Response response) { promise->set_value(std::move(response)); });
    const http::Response response = promise->get_future().get();
    EXPECT_EQ(response.status, 200) << operation << ": " << response.body;
    return parse_json(response.body).value().as_object();
  }
  // Ids of the machines that run, once so many do.
  std::set<std::string> running(std::size_t count) {
    std::set<std::string> ids;
    for (int look = 0; look < 100'000 && ids.size() != count; ++look) {
      ids.clear();
      const auto nodes = ask("ListClusterNodes", R"({"ClusterName": "c"})");
      for (const auto& node : nodes.at("ClusterNodeSummaries").as_array())
        if (node.at("InstanceStatus").at("Status").as_string() == "Running")
          ids.emplace(std::string_view(node.at("InstanceId").as_string()));
    }
    EXPECT_EQ(ids.size(), count);
    return ids;
  }

 private:
  RealTime world_;
  Result<void> outcome_;
  std::thread thread_;
};

class RealTimeTest : public testing::Test {
 protected:
  ~RealTimeTest() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ = [] {
    auto folder = std::filesystem::temp_directory_path() / ("espalier-real-time-" + secret_hex(8));
    std::filesystem::create_directory(folder);
    return folder;
  }();
  std::unique_ptr<store::Store> store_ = store::memory_store();
};

TEST_F(RealTimeTest, AClusterGrowsAndIsMadeAnewByTheNextProcess) {
  std::set<std::string> before;
  {
    Process process(*store_, folder_ / "pools.json");
    process.ask("CreateCluster", kCreate);
    before = process.running(9);
  }
  Process process(*store_, folder_ / "pools.json");
  std::set<std::string> after = before;
  for (int look = 0; look < 1'000 && after == before; ++look) after = process.running(9);
  for (const std::string& id : after) EXPECT_FALSE(before.contains(id)) << id;
}

TEST_F(RealTimeTest, PoolsHaveBoundsThatCanBeChanged) {
  Process process(*store_, folder_ / "pools.json", {{"ml.p5.48xlarge", {5, Millis(0), 0, ""}}});
  process.ask("CreateCluster", kCreate);
  process.running(6);
  process.ask("Espalier.UpdateCapacity", R"({"Pools": {"ml.p5.48xlarge": {"Machines": 8}}})");
  process.running(9);
  const auto capacity = process.ask("Espalier.DescribeCapacity", "{}");
  const auto& pool = capacity.at("Pools").at("ml.p5.48xlarge");
  EXPECT_EQ(pool.at("InUse").to_number<int>(), 8);
  EXPECT_EQ(pool.at("Machines").to_number<int>(), 8);
}

}  // namespace
}  // namespace espalier::simulate
