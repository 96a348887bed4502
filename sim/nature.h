// What everything in a simulated world has in common: time and chance, the faults of this run, and the record of what
// happened and of what must never have happened.
#pragma once

#include <string>
#include <vector>

#include "faults.h"
#include "scheduler.h"
#include "trace.h"

namespace espalier::sim {

struct Nature {
  explicit Nature(std::uint64_t seed, std::FILE* out = nullptr, Time start = kStart) : time(seed, start), trace(out) {}

  [[nodiscard]] Time now() const { return time.now(); }
  // Does it strike now?
  bool strikes(Fault fault) { return time.chance(faults.rate(fault)); }

  template <typename... A>
  void log(fmt::format_string<A...> f, A&&... a) {
    trace.line(time.now(), f, std::forward<A>(a)...);
  }
  // An invariant did not hold.
  template <typename... A>
  void violated(fmt::format_string<A...> f, A&&... a) {
    broken.push_back(fmt::format(f, std::forward<A>(a)...));
    log("VIOLATED {}", broken.back());
  }

  Scheduler time;
  Trace trace;
  Faults faults;
  std::vector<std::string> broken;
};

}  // namespace espalier::sim
