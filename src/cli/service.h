// The control plane as the commands see it: named operations over awsJson1.1.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/sigv4.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/transport.h"

namespace espalier::cli {

inline constexpr Millis kCallTimeout{30'000};

class Service {
 public:
  // Asked for every request: a control plane that starts anew may have another key.
  using KeySource = std::function<std::optional<access::Credentials>()>;

  // The transport and the clock must outlive it.
  Service(Transport& transport, const Clock& clock, std::string endpoint, std::string region, KeySource key = nullptr)
      : transport_(transport),
        clock_(clock),
        endpoint_(std::move(endpoint)),
        region_(std::move(region)),
        key_(std::move(key)) {}

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  [[nodiscard]] const std::string& region() const { return region_; }

  // operation: "SageMaker.ListClusters". Errors of the wire become ours (wire_error); no answer: kUnavailable,
  // kTimeout.
  Result<json::object> call(std::string_view operation, const json::object& request, Millis timeout = kCallTimeout);
  // With `ClusterName`. A name that does not exist: kNotFound, with the name that may have been meant.
  Result<json::object> on_cluster(std::string_view operation, const std::string& cluster, json::object members = {},
                                  Millis timeout = kCallTimeout);
  // All pages of ListClusters as one answer, oldest cluster first.
  Result<json::object> list_clusters();
  Result<std::vector<std::string>> cluster_names();

 private:
  [[nodiscard]] http::Headers headers(std::string_view operation, const std::string& body) const;

  Transport& transport_;
  const Clock& clock_;
  std::string endpoint_;
  std::string region_;
  KeySource key_;
};

// An answer read as T. One that does not fit is the other side's fault: kInternal.
template <typename T>
Result<T> read_answer(const Result<json::object>& answer) {
  if (!answer) return tl::unexpected(answer.error());
  auto read = from_json<T>(json::value(*answer));
  if (!read)
    return fail(ErrorCode::kInternal, "An answer was not understood ({}): does espalier's version fit `serve`'s?",
                read.error().message);
  return read;
}

}  // namespace espalier::cli
