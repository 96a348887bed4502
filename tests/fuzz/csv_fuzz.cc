// rooms: topology
#include <cstdint>
#include <cstdlib>

#include "topology/sources/merge.h"

// What was read, is written and read back the same, where names and switches have none of CSV's own characters.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier::topology;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)read_names(text);
  const auto found = read_csv(text);
  if (!found || found->positions.empty() || text.find_first_of("\"[]#\r\t\f\v ") != std::string_view::npos) return 0;
  const auto again = read_csv(write_csv(found->positions));
  if (!again || again->positions != found->positions) std::abort();
  return 0;
}
