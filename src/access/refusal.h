// Why a request is not carried out before anybody looks at what it wants.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>

namespace espalier::access {

enum class RefusalKind {
  kIncomplete,  // the signature cannot be read, or does not cover what it must
  kUnsigned,    // there is none, and there must be
  kUnknownKey,  // no such access key, revoked, or its session token is wrong
  kMismatch,    // the signature is not that of this request, or was used before
  kSkew,        // made too long ago, or in the future
  kExpiredKey,  // the key's own end has passed
  kDenied,      // the key is right, and may not do this
  kThrottled,   // the key asks too often
};

struct Refusal {
  RefusalKind kind = RefusalKind::kIncomplete;
  std::string message;  // for the caller: names no secret, nor what the signature should have been
};

template <typename T>
using Checked = tl::expected<T, Refusal>;

template <typename... Args>
[[nodiscard]] tl::unexpected<Refusal> refuse(RefusalKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Refusal{kind, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace espalier::access
