#include "cli/patience.h"

namespace espalier::cli {

namespace {

constexpr Millis kRetryPause{500};

}  // namespace

bool Patience::outlasts(const Error& error) {
  if (error.code != ErrorCode::kUnavailable && error.code != ErrorCode::kTimeout) return false;
  if (context_.clock.now() - heard_ > kPatience) return false;
  context_.pause(kRetryPause);
  return true;
}

}  // namespace espalier::cli
