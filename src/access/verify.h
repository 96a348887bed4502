// Whether a request's claim holds: its scope, its time, what it covers, its signature. Pure.
#pragma once

#include "access/refusal.h"
#include "access/sigv4.h"

namespace espalier::access {

// Either side of our clock. A captured request is of no use after it (see replays.h for use within it).
inline constexpr std::chrono::minutes kClockSkew{5};

// Everything that can be said without the secret. kMismatch: the scope; kSkew: the message has both times; kIncomplete:
// Host or an X-Amz- header is not signed, so that whoever carries the request could change what it asks for.
Checked<void> check_claim(const http::Request& request, const Claim& claim, std::string_view service, Time now);
// kMismatch. In constant time.
Checked<void> check_signature(const http::Request& request, const Claim& claim, std::string_view secret);

}  // namespace espalier::access
