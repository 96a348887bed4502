// Exit codes: part of the command line's contract, written in --help.
#pragma once

#include "base/result.h"

namespace espalier::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;         // wrong options, or a request that was refused as invalid
inline constexpr int kNotFound = 3;      // what was named does not exist
inline constexpr int kNoConnection = 4;  // the control plane cannot be reached, or cannot serve now

constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return kUsage;
    case ErrorCode::kNotFound:
      return kNotFound;
    case ErrorCode::kUnavailable:
      return kNoConnection;
    case ErrorCode::kExists:
    case ErrorCode::kConflict:
    case ErrorCode::kLimit:
    case ErrorCode::kPermission:
    case ErrorCode::kTimeout:
    case ErrorCode::kInternal:
      return kFailed;
  }
  return kFailed;
}

}  // namespace espalier::cli
