#include "access/verify.h"

#include <strings.h>

#include <algorithm>

#include "base/secret.h"

namespace espalier::access {

namespace {

Checked<void> check_scope(const Claim& claim, std::string_view service) {
  if (claim.scope.service != service)
    return refuse(RefusalKind::kMismatch, "The credential is scoped to the service '{}'; this one is '{}'.",
                  claim.scope.service, service);
  if (claim.scope.date != claim.time.substr(0, claim.scope.date.size()) || claim.scope.date.size() != 8)
    return refuse(RefusalKind::kMismatch, "The date in the credential's scope, {}, is not that of the request, {}.",
                  claim.scope.date, claim.time.substr(0, 8));
  return {};
}

// In the words that clients know, some of which set their clock by them.
Checked<void> check_time(const Claim& claim, Time signed_at, Time now) {
  const auto minutes = kClockSkew.count();
  if (signed_at > now + kClockSkew)
    return refuse(RefusalKind::kSkew, "Signature not yet current: {} is still later than {} ({} + {} min.)", claim.time,
                  wire_time(now + kClockSkew), wire_time(now), minutes);
  if (claim.expires && now > signed_at + *claim.expires)
    return refuse(RefusalKind::kSkew, "Signature expired: {} is now later than {} ({} + {} s)", wire_time(now),
                  wire_time(signed_at + *claim.expires), claim.time, claim.expires->count());
  if (!claim.expires && signed_at < now - kClockSkew)
    return refuse(RefusalKind::kSkew, "Signature expired: {} is now earlier than {} ({} - {} min.)", claim.time,
                  wire_time(now - kClockSkew), wire_time(now), minutes);
  return {};
}

Checked<void> check_cover(const http::Request& request, const Claim& claim) {
  static constexpr std::string_view kOurs = "x-amz-";
  const auto covered = [&](std::string_view name) {
    return std::ranges::any_of(claim.signed_headers, [&](const std::string& each) {
      return each.size() == name.size() && strncasecmp(each.data(), name.data(), name.size()) == 0;
    });
  };
  if (!covered("host")) return refuse(RefusalKind::kIncomplete, "'Host' must be a signed header.");
  for (const auto& [name, value] : request.headers) {
    const bool ours = name.size() > kOurs.size() && strncasecmp(name.data(), kOurs.data(), kOurs.size()) == 0;
    if (ours && !covered(name)) return refuse(RefusalKind::kIncomplete, "'{}' must be a signed header.", name);
    if (ours && request.headers.count(name) > 1)
      return refuse(RefusalKind::kIncomplete, "The header {} is there more than once.", name);
  }
  for (const auto& name : claim.signed_headers)
    if (!request.headers.contains(name))
      return refuse(RefusalKind::kIncomplete, "The header '{}' is signed, and not there.", name);
  return {};
}

}  // namespace

Checked<void> check_claim(const http::Request& request, const Claim& claim, std::string_view service, Time now) {
  const auto signed_at = parse_wire_time(claim.time);
  if (!signed_at)
    return refuse(RefusalKind::kIncomplete, "X-Amz-Date must be the time of signing, as in {}.", wire_time(now));
  if (auto ok = check_scope(claim, service); !ok) return ok;
  if (auto ok = check_time(claim, *signed_at, now); !ok) return ok;
  return check_cover(request, claim);
}

Checked<void> check_signature(const http::Request& request, const Claim& claim, std::string_view secret) {
  if (same_secret(signature(request, claim, secret), claim.signature)) return {};
  return refuse(
      RefusalKind::kMismatch,
      "The request signature we calculated does not match the signature you provided. Check your secret access "
      "key and signing method.");
}

}  // namespace espalier::access
