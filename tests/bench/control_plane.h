// A whole control plane in this process but for machines, and clients that sign: for figures of the API under load.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "access/sigv4.h"
#include "api/api.h"
#include "base/executor.h"
#include "base/random.h"
#include "engine/engine.h"
#include "provider/sim/fake_provider.h"

namespace espalier::bench {

inline std::string create_body(const std::string& name, int groups, int slots) {
  json::array all;
  const auto add = [&](const std::string& group, const char* type, int count, json::object slurm) {
    all.push_back(json::object{{"InstanceGroupName", group},
                               {"InstanceType", type},
                               {"InstanceCount", count},
                               {"ExecutionRole", "arn:aws:iam::123456789012:role/bench"},
                               {"SlurmConfig", std::move(slurm)}});
  };
  add("ctl", "ml.c5.xlarge", 1, {{"NodeType", "Controller"}});
  for (int i = 0; i < groups; ++i)
    add(fmt::format("g{}", i), "ml.p5.48xlarge", slots,
        {{"NodeType", "Compute"}, {"PartitionNames", json::array{"gpu"}}});
  return json::serialize(json::object{{"ClusterName", name},
                                      {"NodeProvisioningMode", "Continuous"},
                                      {"Orchestrator", json::object{{"Slurm", json::object()}}},
                                      {"InstanceGroups", std::move(all)}});
}

// 100,000 nodes: a Slurm cluster takes 65,536 at most, so there are two.
struct Shape {
  const char* name;
  int groups;
};
inline constexpr Shape kBig[] = {{"big", 13}, {"second", 7}};
inline constexpr int kSlotsOfAGroup = 5000;

// Its state is a file in $TMPDIR; the provider has no machine to give.
class ControlPlane {
 public:
  ControlPlane() {
    provider.set_capacity("ml.c5.xlarge", 0);
    provider.set_capacity("ml.p5.48xlarge", 0);
    if (!engine.start()) std::abort();
    made = keys->create({"bench", Role::Admin}).value();
  }
  ~ControlPlane() {
    listener.reset();
    library.reset();
    calls.stop();
    steps.stop();
    provider_calls.stop();
    timers.reset();
    std::filesystem::remove_all(folder);
  }

  const std::filesystem::path folder = [] {
    auto path = std::filesystem::temp_directory_path() / ("espalier-bench-" + secret_hex(8));
    std::filesystem::create_directory(path);
    return path;
  }();
  SystemClock clock;
  std::unique_ptr<store::Store> store = std::move(store::sqlite_store((folder / "state.db").string()).value());
  sim::FakeProvider provider{clock};
  std::optional<TimerThread> timers{std::in_place};
  engine::AgentHub hub{"bench", clock, *timers};
  ThreadPool steps{2}, provider_calls{2};
  engine::Engine engine{{clock, steps, provider_calls, *timers, *store, provider, hub, Random::from_system, secret_hex},
                        {}};
  std::unique_ptr<access::KeyRing> keys =
      std::move(access::KeyRing::open(*store, access::Vault(std::string(32, 'k')), clock, access::Rate{}).value());
  access::Gate gate{*keys, clock, true};
  api::Api api{api::Services{engine, nullptr, {}, &gate, nullptr}};
  ThreadPool calls{8};
  std::unique_ptr<http::Server> listener = std::move(
      http::Server::listen("127.0.0.1", 0, [this](http::Request q, http::Reply r) {
        calls.post([this, q = std::move(q), r = std::move(r)]() mutable { api.handle(std::move(q), std::move(r)); });
      }).value());
  // What the library alone does with the same requests.
  std::unique_ptr<http::Server> library =
      std::move(http::Server::listen("127.0.0.1", 0, [](const http::Request& q, const http::Reply& r) {
                  r({200, {}, q.body});
                }).value());
  access::OpenKey made;
};

// One connection; every request is signed.
class Client {
 public:
  struct Answer {
    int status = 0;
    std::string body;
  };
  Client(const ControlPlane& plane, std::uint16_t port)
      : plane_(plane), fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) std::abort();
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Answer ask(const std::string& target, const std::string& body) { return ask(target, body, plane_.made.credentials); }
  Answer ask(const std::string& target, const std::string& body, const access::Credentials& key) {
    http::Request request{"POST", "/", {{"Host", "127.0.0.1"}, {"X-Amz-Target", target}}, body, ""};
    access::sign(request, key, "us-west-2", "sagemaker", plane_.clock.now());
    std::string text = fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n", body.size());
    for (const auto& [name, value] : request.headers) text += fmt::format("{}: {}\r\n", name, value);
    text += "\r\n" + body;
    if (send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) std::abort();
    return answer();
  }

 private:
  Answer answer() {
    std::size_t end = 0;
    while ((end = in_.find("\r\n\r\n")) == std::string::npos) fill();
    const auto length = std::strtoul(in_.c_str() + in_.find("Content-Length: ") + 16, nullptr, 10);
    while (in_.size() < end + 4 + length) fill();
    Answer answer{std::atoi(in_.c_str() + 9), in_.substr(end + 4, length)};
    in_.erase(0, end + 4 + length);
    return answer;
  }
  void fill() {
    char piece[65536];
    const ssize_t n = recv(fd_, piece, sizeof piece, 0);
    if (n <= 0) std::abort();
    in_.append(piece, static_cast<std::size_t>(n));
  }

  const ControlPlane& plane_;
  int fd_;
  std::string in_;
};

inline void make_big_clusters(const ControlPlane& plane) {
  Client client(plane, plane.listener->port());
  for (const auto& [name, groups] : kBig) {
    const auto made = client.ask("SageMaker.CreateCluster", create_body(name, groups, kSlotsOfAGroup));
    if (made.status == 200) continue;
    std::fprintf(stderr, "%s\n", made.body.c_str());
    std::abort();
  }
}

}  // namespace espalier::bench
