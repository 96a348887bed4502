// rooms: api
#include <cstdint>
#include <cstdlib>

#include "api/shapes.h"
#include "api/validate.h"
#include "base/json.h"

// The first byte chooses an operation, what follows is a request for it: it is taken or refused, with a message that is
// bounded, and what was read can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  static const auto targets = api::all_targets();
  if (size == 0) return 0;
  const auto parsed = parse_json(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  if (!parsed) return 0;
  if (!parse_json(json::serialize(*parsed))) std::abort();
  const auto* shape = api::input_shape(targets[data[0] % targets.size()]);
  if (!shape || !parsed->is_object()) return 0;
  const auto checked = api::validate(*shape, parsed->get_object());
  if (!checked && checked.error().message.size() > 64 * size + 65536) std::abort();
  return 0;
}
