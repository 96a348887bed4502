// Every error that the service documents for an operation, from shapes.json, is provoked on the wire.
#include "api/errors.h"

#include "api/api_fixture_test.h"
#include "api/operations.h"
#include "api/samples_test.h"

namespace espalier::api {
namespace {

using Documented = std::pair<std::string, std::string>;  // target, error

class DocumentedErrors : public ApiTest, public testing::WithParamInterface<Documented> {
 protected:
  // A request that passes its shape; its ClusterName is the ARN of a cluster that does not exist.
  static json::object least(const std::string& target) {
    json::object body = samples::good_structure(*input_shape(target));
    for (const auto* id : {"NodeId", "NodeIds"})
      if (const auto found = input_shape(target)->members.find(id); found != input_shape(target)->members.end())
        if (!input_shape(target)->members.contains("EventTimeAfter")) body[id] = samples::good(found->second.shape);
    return body;
  }
  json::object demo_of(const std::string& target) {
    auto body = least(target);
    body["ClusterName"] = "demo";
    return body;
  }
  // What provokes it: prepares `clusters` and gives the request.
  json::object provoke(const std::string& target, const std::string& error) {
    if (error == "ResourceNotFound") return least(target);
    auto& state = create_demo();
    const auto demo = parse_json(kDemo)->as_object();
    if (error == "ResourceInUse") return demo;
    if (error == "ConflictException") {
      state.cluster.status = ClusterStatus::Deleting;
      return demo_of(target);
    }
    clusters.quotas.instances_per_cluster = 4;  // what the cluster has
    clusters.add_answer = fail(ErrorCode::kLimit, "the limit is 4");
    auto more = target == "SageMaker.CreateCluster" ? demo : demo_of(target);
    if (target == "SageMaker.BatchAddClusterNodes") return more;
    more["InstanceGroups"] = demo.at("InstanceGroups");
    more["InstanceGroups"].as_array()[1].as_object()["InstanceCount"] = 4;
    if (target == "SageMaker.CreateCluster") more["ClusterName"] = "other";
    return more;
  }
};

TEST_P(DocumentedErrors, AreAnswered) {
  const auto& [target, error] = GetParam();
  const auto reply = call(target, json::serialize(provoke(target, error)));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.type(), error) << reply.message();
  EXPECT_FALSE(reply.message().empty());
  EXPECT_LE(reply.message().size(), 1024u);
}

// What the service documents and Espalier never answers: a cluster can be deleted at any time, and no interface is ever
// attached.
const std::set<Documented> kNever = {{"SageMaker.DeleteCluster", "ConflictException"},
                                     {"SageMaker.AttachClusterNodeNetworkInterface", "ResourceLimitExceeded"}};

std::vector<Documented> documented() {
  std::vector<Documented> out;
  for (const auto& target : all_targets())
    for (const auto& error : operation_model(target)->errors)
      if (target.starts_with("SageMaker.") && find_operation(target) && !kNever.contains({target, error}))
        out.emplace_back(target, error);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Every, DocumentedErrors, testing::ValuesIn(documented()), [](const auto& item) {
  return item.param.first.substr(item.param.first.find('.') + 1) + "_" + item.param.second;
});

TEST(WireErrors, OneForEachCode) {
  const std::tuple<ErrorCode, int, const char*> table[] = {
      {ErrorCode::kInvalid, 400, "ValidationException"},    {ErrorCode::kNotFound, 400, "ResourceNotFound"},
      {ErrorCode::kExists, 400, "ResourceInUse"},           {ErrorCode::kConflict, 400, "ConflictException"},
      {ErrorCode::kLimit, 400, "ResourceLimitExceeded"},    {ErrorCode::kPermission, 403, "AccessDeniedException"},
      {ErrorCode::kUnavailable, 503, "ServiceUnavailable"}, {ErrorCode::kTimeout, 503, "ServiceUnavailable"},
      {ErrorCode::kInternal, 500, "InternalFailure"},
  };
  for (const auto& [code, status, type] : table) {
    const auto error = wire_error({code, "why"});
    EXPECT_EQ(error.status, status);
    EXPECT_EQ(error.type, type);
    EXPECT_EQ(error.message, "why");
  }
}

TEST(WireErrors, LongMessagesEndBetweenCharacters) {
  std::string text;
  while (text.size() < 10'000) text += "ä";
  const auto message = wire_error({ErrorCode::kInvalid, "x" + text}).message;
  EXPECT_LT(message.size(), 4200u);
  EXPECT_TRUE(message.ends_with("ä …"));
}

}  // namespace
}  // namespace espalier::api
