#include "api/auth.h"

#include <algorithm>

namespace espalier::api {
namespace {

constexpr std::size_t kRegionLength = 32;

// "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-west-2/sagemaker/aws4_request, …" → "us-west-2"; "" without a scope.
std::string_view scope_region(std::string_view authorization) {
  static constexpr std::string_view kCredential = "Credential=";
  const auto at = authorization.find(kCredential);
  if (at == std::string_view::npos) return "";
  auto scope = authorization.substr(at + kCredential.size());
  scope = scope.substr(0, scope.find_first_of(", "));
  // From the end, because a key id may hold a slash: date / region / service / aws4_request.
  for (int parts = 0; parts < 2; ++parts) scope = scope.substr(0, std::min(scope.rfind('/'), scope.size()));
  const auto slash = scope.rfind('/');
  return slash == std::string_view::npos ? "" : scope.substr(slash + 1);
}

bool is_region(std::string_view text) {
  return text.size() <= kRegionLength && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

}  // namespace

Result<Caller> authenticate(const http::Request& request, const Settings& settings) {
  const std::string authorization = http::header(request.headers, "Authorization");
  const auto region = scope_region(authorization);
  if (region.empty()) return Caller{settings.account, settings.default_region};
  if (!is_region(region))
    return fail(ErrorCode::kInvalid, "the signature is for the region '{}', which is no name of a region", region);
  return Caller{settings.account, std::string(region)};
}

}  // namespace espalier::api
