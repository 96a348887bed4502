// rooms: topology
#include <cstdint>
#include <cstdlib>

#include "topology/sources/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = espalier::topology::read_ec2({reinterpret_cast<const char*>(data), size});
  if (!found) return 0;
  for (const auto& [id, position] : found->positions)
    if (id.empty() || position.domain == "null") std::abort();
  return 0;
}
