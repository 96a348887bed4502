#include "cli/service.h"

#include "cli/credentials.h"
#include "cli/nearest.h"
#include "cli/wire.h"
#include "cli/wire_error.h"

namespace espalier::cli {

namespace {

constexpr int kMaxPages = 1000;  // 100,000 clusters

constexpr const char* kNoKey =
    "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to an access key of this control plane, or AWS_PROFILE, or ask "
    "as root on its host, with ESPALIER_STATE where its state folder is not /var/lib/espalier";

}  // namespace

// Without a key the region travels in a scope all the same: it decides in which region names are looked up.
http::Headers Service::headers(std::string_view operation, const std::string& body) const {
  const auto authority = authority_of(endpoint_);
  const auto path = std::string_view(endpoint_).substr(endpoint_.find(authority) + authority.size());
  http::Request request{"POST",
                        std::string(path) + "/",
                        {{"Host", std::string(authority)},
                         {"Content-Type", "application/x-amz-json-1.1"},
                         {"X-Amz-Target", std::string(operation)}},
                        body,
                        ""};
  const auto key = key_ ? key_() : std::nullopt;
  access::sign(request, key.value_or(access::Credentials{"espalier", ""}), region_, "sagemaker", clock_.now());
  return request.headers;
}

Result<json::object> Service::call(std::string_view operation, const json::object& request, Millis timeout) {
  const std::string body = json::serialize(request);
  auto response = transport_.post(endpoint_ + "/", headers(operation, body), body, timeout);
  if (!response) {
    Error error = response.error();
    if (error.code == ErrorCode::kUnavailable)
      error.message +=
          "; is a control plane running there? `espalier up` or `espalier serve` starts one, "
          "--endpoint or ESPALIER_ENDPOINT names another";
    return tl::unexpected(std::move(error));
  }
  if (response->status != 200) {
    Error error = wire_error(operation, *response);
    if (response->body.find("MissingAuthenticationToken") != std::string::npos ||
        response->body.find("UnrecognizedClientException") != std::string::npos)
      error.message += kNoKey;
    return tl::unexpected(std::move(error));
  }
  auto parsed = parse_json(response->body);
  if (!parsed || !parsed->is_object())
    return fail(ErrorCode::kInternal, "{} at {} did not answer with a JSON object: is it an Espalier control plane?",
                operation, endpoint_);
  return std::move(parsed->get_object());
}

Result<json::object> Service::on_cluster(std::string_view operation, const std::string& cluster, json::object members,
                                         Millis timeout) {
  members["ClusterName"] = cluster;
  auto answer = call(operation, members, timeout);
  if (answer || answer.error().code != ErrorCode::kNotFound) return answer;
  const auto names = cluster_names();
  const bool exists = names && std::find(names->begin(), names->end(), cluster) != names->end();
  if (!names || exists) return answer;  // something else was not found
  return fail(ErrorCode::kNotFound, "There is no cluster '{}' in {}.{}", cluster, region_,
              names->empty() ? "" : suggestion(cluster, *names));
}

Result<json::object> Service::list_clusters() {
  json::object request{{"MaxResults", 100}};
  json::array all;
  for (int page = 0; page < kMaxPages; ++page) {
    auto answer = call("SageMaker.ListClusters", request);
    if (!answer) return answer;
    if (auto* items = answer->if_contains("ClusterSummaries"); items != nullptr && items->is_array())
      for (auto& item : items->get_array()) all.push_back(std::move(item));
    const auto* token = answer->if_contains("NextToken");
    if (token == nullptr || !token->is_string()) break;
    request["NextToken"] = *token;
  }
  return json::object{{"ClusterSummaries", std::move(all)}};
}

Result<std::vector<std::string>> Service::cluster_names() {
  auto list = read_answer<wire::ClusterList>(list_clusters());
  if (!list) return tl::unexpected(list.error());
  std::vector<std::string> names;
  for (const auto& cluster : list->ClusterSummaries) names.push_back(cluster.ClusterName);
  return names;
}

}  // namespace espalier::cli
