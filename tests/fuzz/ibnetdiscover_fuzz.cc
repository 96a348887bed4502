// rooms: topology
#include <cstdint>
#include <cstdlib>

#include "topology/sources/source.h"

// Whatever it reads, every host has a path, and reading it is bounded.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = espalier::topology::read_ibnetdiscover({reinterpret_cast<const char*>(data), size});
  if (!found) return 0;
  for (const auto& [host, position] : found->positions)
    if (host.empty() || position.network_nodes.empty()) std::abort();
  return 0;
}
