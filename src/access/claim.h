// Reads what a request says of its own signature: hostile text, bounded, refused at the first doubt.
#pragma once

#include <optional>

#include "access/refusal.h"
#include "access/sigv4.h"

namespace espalier::access {

inline constexpr std::size_t kLongestClaim = 8192;  // Authorization, or a presigned query
inline constexpr std::size_t kMostSignedHeaders = 64;

// Of the Authorization header, or of a presigned query; nothing for a request without either. kIncomplete says what is
// missing or twice. Whether the claim holds is verify()'s business.
Checked<std::optional<Claim>> read_claim(const http::Request& request);

}  // namespace espalier::access
