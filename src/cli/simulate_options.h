// What `espalier simulate` is told. Plain data: main() hands it to the room that does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace espalier::cli {

struct SimulateOptions {
  std::string scenario;               // file
  std::optional<std::uint64_t> seed;  // in place of the scenario's
  std::string mode;                   // continuous, all-or-nothing; empty: both
  std::string plot;                   // file; empty: none
  bool operator==(const SimulateOptions&) const = default;
};

}  // namespace espalier::cli
