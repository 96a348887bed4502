#include "api/auth.h"

#include <algorithm>

#include "api/lookup.h"
#include "api/read.h"

namespace espalier::api {
namespace {

constexpr std::size_t kRegionLength = 32;

struct Row {
  access::RefusalKind kind;
  int status;
  const char* type;
};
// InvalidSignatureException, which the contract's list of common errors leaves out, is what the clients know: for a
// skewed clock, some set theirs by it and by the answer's Date.
constexpr Row kTable[] = {
    {access::RefusalKind::kIncomplete, 403, "IncompleteSignature"},
    {access::RefusalKind::kUnsigned, 403, "MissingAuthenticationTokenException"},
    {access::RefusalKind::kUnknownKey, 403, "UnrecognizedClientException"},
    {access::RefusalKind::kMismatch, 403, "InvalidSignatureException"},
    {access::RefusalKind::kSkew, 403, "InvalidSignatureException"},
    {access::RefusalKind::kExpiredKey, 403, "ExpiredTokenException"},
    {access::RefusalKind::kDenied, 403, "AccessDeniedException"},
    {access::RefusalKind::kThrottled, 400, "ThrottlingException"},
};

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

access::Identity everyone() {
  access::Identity out;
  out.key.role = Role::Admin;
  return out;
}

// The name of the cluster that is meant; "" when it is not there.
std::string name_of(const Services& services, const Call& call, const std::string& named, bool is_new) {
  if (is_new || named.empty()) return named;
  const auto id = services.clusters.find(call.caller.account, call.caller.region, named);
  const auto row = id ? cluster_row(services, *id) : tl::unexpected(id.error());
  return row ? row->name : "";
}

}  // namespace

WireError wire_error(const access::Refusal& refusal) {
  for (const auto& row : kTable)
    if (row.kind == refusal.kind) return {row.status, row.type, refusal.message};
  return {500, "InternalFailure", refusal.message};
}

tl::expected<Caller, WireError> authenticate(const http::Request& request, const Services& services) {
  auto who = services.gate ? services.gate->admit(request) : access::Checked<access::Identity>(everyone());
  if (!who) return tl::unexpected(wire_error(who.error()));
  auto region = who->verified ? who->region : std::string(scope_region(http::header(request.headers, "Authorization")));
  if (!is_region(region))
    return tl::unexpected(
        wire_error(Error{ErrorCode::kInvalid,
                         fmt::format("the signature is for the region '{}', which is no name of a region", region)}));
  if (region.empty()) region = services.settings.default_region;
  return Caller{services.settings.account, std::move(region), std::move(*who)};
}

std::string cluster_of(const json::object& input) {
  for (const auto* name : {"ClusterName", "ClusterArn", "ResourceArn"}) {
    auto named = text(input, name);
    if (!named.empty()) return named;
  }
  return "";
}

tl::expected<void, WireError> authorize(const Services& services, const Call& call, std::string_view target) {
  if (!services.gate) return {};
  const auto named = cluster_of(call.input);
  const auto name = name_of(services, call, named, target == "SageMaker.CreateCluster");
  if (auto ok = services.gate->permit(call.caller.who, {target, name, !named.empty()}); !ok)
    return tl::unexpected(wire_error(ok.error()));
  if (access::effect_of(target) == access::Effect::kRead) return {};
  if (auto ok = services.gate->use_once(call.caller.who); !ok) return tl::unexpected(wire_error(ok.error()));
  return {};
}

}  // namespace espalier::api
