// Calls the API as a client does, with texts, and holds every answer against the shape of its output.
#pragma once

#include <gmock/gmock.h>

#include "api/api.h"
#include "api/fake_clusters_test.h"
#include "api/validate.h"

namespace espalier::api {

inline constexpr const char* kDemo = R"({
  "ClusterName": "demo", "NodeProvisioningMode": "Continuous", "Orchestrator": {"Slurm": {}}, "InstanceGroups": [
    {"InstanceGroupName": "controller", "InstanceType": "ml.c5.xlarge", "InstanceCount": 1,
     "ExecutionRole": "arn:aws:iam::000000000000:role/demo", "SlurmConfig": {"NodeType": "Controller"},
     "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-demo/", "OnCreate": "on_create.sh"}},
    {"InstanceGroupName": "workers", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 3, "MinInstanceCount": 1,
     "ExecutionRole": "arn:aws:iam::000000000000:role/demo", "ThreadsPerCore": 2,
     "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]}}]})";

inline std::string str(const json::value& value) { return std::string(std::string_view(value.as_string())); }

struct Reply {
  int status = 0;
  json::object body;
  http::Headers headers;

  std::string type() const { return body.contains("__type") ? str(body.at("__type")) : ""; }
  std::string message() const { return body.contains("Message") ? str(body.at("Message")) : ""; }
};

class ApiTest : public testing::Test {
 protected:
  FakeClusters clusters;
  Api api{clusters, settings(), nullptr, Random(1)};
  std::string region;  // "" → unsigned

  static Settings settings() {
    Settings out;
    out.account = "123456789012";
    out.version = "0.1.0";
    out.provider = "local";
    out.newest_image = [] { return std::string("ami-22222222"); };
    return out;
  }

  http::Request request(const std::string& target, std::string body) const {
    http::Request out{"POST", "/", {{"X-Amz-Target", target}}, std::move(body), "127.0.0.1"};
    if (!region.empty())
      out.headers.emplace("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/20260101/" + region +
                                               "/sagemaker/aws4_request, SignedHeaders=host, Signature=0");
    return out;
  }
  // Absent when it was not answered yet.
  std::optional<Reply> send(http::Request sent) {
    std::optional<Reply> got;
    const auto target = http::header(sent.headers, "X-Amz-Target");
    api.handle(std::move(sent), [&](const http::Response& response) {
      EXPECT_FALSE(got) << "answered twice";
      got = Reply{response.status, parse_json(response.body).value().as_object(), response.headers};
    });
    if (got && got->status == 200) check_output(target, got->body);
    return got;
  }
  Reply call(const std::string& operation, std::string body = "{}") {
    const bool full = operation.find('.') != std::string::npos;
    return send(request(full ? operation : "SageMaker." + operation, std::move(body))).value();
  }
  json::object good(const std::string& operation, std::string body = "{}") {
    const auto reply = call(operation, std::move(body));
    EXPECT_EQ(reply.status, 200) << json::serialize(reply.body);
    return reply.body;
  }
  ClusterState& create_demo() {
    good("CreateCluster", kDemo);
    return clusters.states.begin()->second;
  }

 private:
  // An answer has no member that its shape does not know.
  static void expect_known(const Shape& known, const json::value& value, const std::string& path) {
    if (value.is_array())
      for (const auto& item : value.get_array()) expect_known(shape(known.member), item, path + "[]");
    if (!value.is_object()) return;
    for (const auto& [name, item] : value.get_object()) {
      const auto at = path + "." + std::string(name);
      if (known.type == "map") return expect_known(shape(known.value), item, at);
      const auto found = known.members.find(std::string(name));
      if (found == known.members.end())
        ADD_FAILURE() << at << " is not in the shape";
      else
        expect_known(shape(found->second.shape), item, at);
    }
  }
  static void check_output(const std::string& target, json::object body) {
    const Shape* shape = output_shape(target);
    if (!shape) return;
    // The model requires what a pending node cannot have; clients do not mind.
    if (auto* nodes = body.if_contains("ClusterNodeSummaries"))
      for (auto& node : nodes->as_array())
        for (const auto* name : {"InstanceId", "LaunchTime"})
          if (!node.as_object().contains(name))
            node.as_object()[name] = *name == 'L' ? json::value(0) : json::value("");
    expect_known(*shape, body, target);
    const auto valid = validate(*shape, body);
    EXPECT_TRUE(valid) << target << ": " << (valid ? "" : valid.error().message) << json::serialize(body);
  }
};

// kDemo with the member at `path` replaced: demo_with("/InstanceGroups/0/InstanceCount", "0").
inline std::string demo_with(std::string path, std::string_view value) {
  auto demo = parse_json(kDemo).value();
  const auto cut = path.rfind('/');
  demo.at_pointer(path.substr(0, cut)).as_object()[path.substr(cut + 1)] = parse_json(value).value();
  return json::serialize(demo);
}

}  // namespace espalier::api
