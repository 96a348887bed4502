#include "access/gate.h"

#include "access/claim.h"
#include "access/verify.h"
#include "base/secret.h"

namespace espalier::access {

namespace {

constexpr std::string_view kService = "sagemaker";

Identity nobody(std::string region) {
  Identity out;
  out.key.name = "anyone on this host";
  out.key.role = Role::Admin;
  out.region = std::move(region);
  return out;
}

// A name that a web page could have made to resolve to this host (DNS rebinding) is refused: the browser of someone on
// this host would carry the page's requests.
bool is_loopback_name(std::string_view host) {
  const bool bracketed = host.starts_with('[');
  host = host.substr(0, bracketed ? host.find(']') : host.find(':'));
  return host.empty() || host == "localhost" || host.starts_with("127.") || host == "[::1";
}

// The scope of a signature that is not verified.
std::string region_of(const Checked<std::optional<Claim>>& claim) {
  return claim && *claim ? (*claim)->scope.region : "";
}

}  // namespace

Checked<Identity> Gate::admit(const http::Request& request) {
  const auto claim = read_claim(request);
  if (const auto known = claim && *claim ? keys_.find((*claim)->key_id) : std::nullopt)
    return admit_claim(request, **claim, *known);
  if (open()) {
    if (is_loopback_name(http::header(request.headers, "Host"))) return nobody(region_of(claim));
    return refuse(RefusalKind::kDenied,
                  "There are no access keys, so that only requests to this host's own address are taken, such as "
                  "http://127.0.0.1:8650.");
  }
  if (!claim) return tl::unexpected(claim.error());
  if (!*claim)
    return refuse(RefusalKind::kUnsigned, "Missing Authentication Token: sign the request with an access key.");
  return refuse(RefusalKind::kUnknownKey, "The security token included in the request is invalid.");
}

Checked<Identity> Gate::admit_claim(const http::Request& request, const Claim& claim, const OpenKey& known) {
  const Time now = clock_.now();
  if (auto ok = check_claim(request, claim, kService, now); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_signature(request, claim, known.credentials.secret); !ok) return tl::unexpected(ok.error());
  const auto& token = known.credentials.session_token;
  if (token.empty() ? !claim.session_token.empty() : !same_secret(claim.session_token, token))
    return refuse(RefusalKind::kUnknownKey, "The security token included in the request is invalid.");
  if (known.key.expires_at && *known.key.expires_at <= now)
    return refuse(RefusalKind::kExpiredKey,
                  "The security token included in the request is expired: access key {} ended "
                  "at {}.",
                  known.key.id, wire_time(*known.key.expires_at));
  if (!keys_.take(known.key.id, now)) return refuse(RefusalKind::kThrottled, "Rate exceeded");
  const Time signed_at = parse_wire_time(claim.time).value_or(now);
  return Identity{known.key,          true,
                  claim.scope.region, claim.signature,
                  signed_at,          signed_at + (claim.expires ? Millis(*claim.expires) : Millis(kClockSkew))};
}

Checked<void> Gate::permit(const Identity& who, const Act& act) const {
  if (!who.verified && act.target.ends_with("AccessKey"))
    return refuse(RefusalKind::kDenied,
                  "{} takes a signature: as root on the control plane's host, `espalier access` signs with the "
                  "credential in the state folder.",
                  act.target);
  return allowed(who.key, act);
}

Checked<void> Gate::use_once(const Identity& who) {
  if (!who.verified) return {};
  if (who.signed_at < std::chrono::floor<std::chrono::seconds>(began_))  // a signature's time has whole seconds
    return refuse(RefusalKind::kMismatch, "This request was signed before the control plane started: sign it anew.");
  switch (replays_.use(who.signature, who.good_until, clock_.now())) {
    case Replays::Verdict::kFirst:
      return {};
    case Replays::Verdict::kAgain:
      return refuse(RefusalKind::kMismatch, "This very request was carried out before: sign it anew to repeat it.");
    case Replays::Verdict::kFull:
      return refuse(RefusalKind::kThrottled, "Rate exceeded");
  }
  return {};
}

}  // namespace espalier::access
