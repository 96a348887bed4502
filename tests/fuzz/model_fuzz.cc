// rooms: topology
#include <cstdint>

#include "topology/sources/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)espalier::topology::read_model(text, {"n1", "n2", "n3"});
  (void)espalier::topology::read_paths_yaml(text);
  return 0;
}
