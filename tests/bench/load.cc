// `load mixed SECONDS`: a control plane with 100,000 slots, and clients that do everything at once. A line
// now and then: requests so far, and what the process holds of memory, of which nothing may grow.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "control_plane.h"

namespace espalier::bench {
namespace {

constexpr int kClients = 4;
constexpr int kLines = 60;
constexpr int kNames = 20;  // clusters that come and go, of each client

std::int64_t status_kib(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what + ":")) return std::atoll(line.c_str() + what.size() + 1);
  return 0;
}

struct Count {
  std::atomic<std::int64_t> requests = 0, refused = 0, failed = 0;
};

class Mixed {
 public:
  Mixed(ControlPlane& plane, Count& count, int number)
      : plane_(plane), count_(count), client_(plane, plane.listener->port()), name_(fmt::format("m{}", number)) {}

  void one() {
    const auto dice = random_.below(100);
    if (dice < 40) return ask("DescribeCluster", R"({"ClusterName": "big"})");
    if (dice < 70) return page();
    if (dice < 78) return ask("ListClusters", "{}");
    if (dice < 84) return ask("ListClusterEvents", R"({"ClusterName": "big"})");
    if (dice < 88) return ask("DescribeCluster", "{" + std::string(5000, ' ') + "\"x\":[[[[[[1]]]]]]}");
    if (dice < 92) return ask("ListClusters", "{}", {plane_.made.credentials.key_id, "not its secret"});
    const std::string name = fmt::format("{}-{}", name_, random_.below(kNames));
    if (dice < 96) return ask("CreateCluster", create_body(name, 1, 4));
    ask("DeleteCluster", json::serialize(json::object{{"ClusterName", name}}));
  }

 private:
  void page() {
    json::object body{{"ClusterName", "big"}, {"IncludeNodeLogicalIds", true}};
    if (!token_.empty()) body["NextToken"] = token_;
    const auto answer = ask_for("ListClusterNodes", json::serialize(body), plane_.made.credentials);
    const auto parsed = parse_json(answer.body);
    const auto* next = parsed && parsed->is_object() ? parsed->get_object().if_contains("NextToken") : nullptr;
    token_ = next ? std::string(std::string_view(next->get_string())) : "";
  }
  void ask(const std::string& operation, const std::string& body) { ask(operation, body, plane_.made.credentials); }
  void ask(const std::string& operation, const std::string& body, const access::Credentials& key) {
    ask_for(operation, body, key);
  }
  Client::Answer ask_for(const std::string& operation, const std::string& body, const access::Credentials& key) {
    auto answer = client_.ask("SageMaker." + operation, body, key);
    ++count_.requests;
    if (answer.status >= 500 && ++count_.failed <= 5) std::cerr << operation << ": " << answer.body << "\n";
    if (answer.status / 100 == 4) ++count_.refused;
    return answer;
  }

  ControlPlane& plane_;
  Count& count_;
  Client client_;
  const std::string name_;
  Random random_ = Random::from_system();
  std::string token_;
};

void tell(const Count& count, std::chrono::seconds passed) {
  std::cout << fmt::format("{:6} s {:10} requests ({} refused, {} failed)  resident {:7} KiB  heap in use {:7} KiB\n",
                           passed.count(), count.requests.load(), count.refused.load(), count.failed.load(),
                           status_kib("VmRSS"), mallinfo2().uordblks / 1024)
            << std::flush;
}

int mixed(std::chrono::seconds length) {
  ControlPlane plane;
  Count count;
  make_big_clusters(plane);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::jthread> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([&, i](const std::stop_token& stop) {
      for (Mixed client(plane, count, i); !stop.stop_requested();) client.one();
    });
  for (int line = 1; line <= kLines; ++line) {
    std::this_thread::sleep_until(start + length * line / kLines);
    tell(count, length * line / kLines);
  }
  for (auto& client : clients) client.request_stop();
  clients.clear();
  return count.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace espalier::bench

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == std::string_view("mixed"))
    return espalier::bench::mixed(std::chrono::seconds(std::atoi(argv[2])));
  std::cerr << "usage: load mixed SECONDS\n";
  return 2;
}
