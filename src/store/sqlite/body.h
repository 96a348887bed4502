// The JSON text of a row, read back.
#pragma once

#include <string_view>

#include "base/json.h"

namespace espalier::store {

// kInternal: the text is not what Espalier writes; the message names the row.
template <typename T>
Result<void> read_body(std::string_view text, T& out, std::string_view what, std::string_view cluster,
                       std::string_view key = "") {
  auto parsed = parse_json(text);
  auto ok = parsed ? read_json(*parsed, out) : Result<void>(tl::unexpected(parsed.error()));
  if (ok) return {};
  return fail(ErrorCode::kInternal, "the state file's row {} {} {} is damaged: {}; put back a copy", what, cluster, key,
              ok.error().message);
}

}  // namespace espalier::store
