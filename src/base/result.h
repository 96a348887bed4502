// What can fail in the world returns a Result; its Error says what was tried, on what, and what to do.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace espalier {

// The kind of a failure. api/errors.cc maps each to a code and status of the wire, cli/ to an exit code.
enum class ErrorCode {
  kInvalid,      // the request is wrong: the message says what to change
  kNotFound,     // the thing named does not exist
  kExists,       // the name is taken
  kConflict,     // it is busy with something that excludes this
  kLimit,        // a quota or a bound
  kPermission,   // not allowed
  kUnavailable,  // the other side is not there now; a later try may work
  kTimeout,      // no answer in time: the outcome is unknown
  kInternal,     // our own fault
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

// fail(ErrorCode::kInvalid, "port {} is taken", port)
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace espalier
