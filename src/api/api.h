// The HyperPod API: awsJson1.1 requests in, answers out; no sockets.
//
// handle() takes what http::Server hands over and calls `reply` once: reads on the caller's thread, what changes a
// cluster or waits for an event later, from a thread of the engine's. The path of a request: target → authenticate →
// parse → validate by the shape → authorize → operation → answer. Everything that can be wrong with a request is told
// by the error table of errors.h. Safe from any thread.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "access/audit.h"
#include "access/gate.h"
#include "base/random.h"
#include "engine/clusters.h"
#include "http/server.h"
#include "provider/capacity.h"

namespace espalier::api {

struct Settings {
  std::string account = "000000000000";      // 12 digits; stands in the ARNs
  std::string default_region = "us-west-2";  // of requests without a signature
  // What Espalier.DescribeService shows.
  std::string version;
  std::string provider;
  std::string state_folder;
  std::string image;  // of local machines
  std::string agent_endpoint;
  // Release of the software that new machines get; empty: not known.
  std::function<std::string()> newest_image;
  // Where a machine lives on this host, for Espalier.DescribeAccess; empty: nowhere.
  std::function<std::string(const MachineId&)> machine_folder;
};

// What the operations work with.
struct Services {
  engine::Clusters& clusters;
  Capacity* capacity = nullptr;  // null: the provider has no capacity model
  Settings settings;
  access::Gate* gate = nullptr;         // null: everyone may do everything
  access::AuditTrail* audit = nullptr;  // null: nothing is recorded
};

// For a request that there is no room for: 503.
http::Response too_busy();

// Outlives the requests that it was given: the engine ends all waits before it goes.
class Api {
 public:
  Api(engine::Clusters& clusters, Settings settings, Capacity* capacity = nullptr,
      Random random = Random::from_system());
  explicit Api(Services services, Random random = Random::from_system())
      : services_(std::move(services)), random_(random) {}

  void handle(http::Request request, http::Reply reply);

 private:
  std::string request_id();

  const Services services_;
  std::mutex mutex_;
  Random random_;
};

}  // namespace espalier::api
