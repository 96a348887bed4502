// With a control plane that does not answer: it may be starting anew.
#pragma once

#include "cli/context.h"

namespace espalier::cli {

inline constexpr Millis kPatience{60'000};  // since it last answered

class Patience {
 public:
  // The context must outlive it.
  explicit Patience(Context& context) : context_(context), heard_(context.clock.now()) {}

  // The control plane answered.
  void heard() { heard_ = context_.clock.now(); }
  // True, after a pause: the error is an outage's and it is worth asking again.
  bool outlasts(const Error& error);

 private:
  Context& context_;
  Time heard_;
};

}  // namespace espalier::cli
