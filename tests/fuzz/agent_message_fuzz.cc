// rooms: agent
#include <cstdint>
#include <cstdlib>

#include "agent/http_client.h"
#include "agent/protocol.h"

namespace {

// What was read is written and read back the same.
template <typename T>
void read(const espalier::json::value& value) {
  const auto read = espalier::from_json<T>(value);
  if (!read) return;
  const auto text = espalier::json::serialize(espalier::to_json(*read));
  const auto again = espalier::from_json<T>(espalier::parse_json(text).value());
  if (!again || espalier::json::serialize(espalier::to_json(*again)) != text) std::abort();
}

}  // namespace

// What agents send the control plane and it sends them, and the head of an HTTP answer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto head = agent::parse_head(text); head && head->content_length > agent::kMaxBodyBytes) std::abort();
  (void)agent::parse_base_url(text);
  const auto value = parse_json(text);
  if (!value) return 0;
  read<agent::Enrol>(*value);
  read<agent::Report>(*value);
  read<agent::NextCall>(*value);
  read<agent::NextAnswer>(*value);
  return 0;
}
