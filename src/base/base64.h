// Base64 (RFC 4648). kInvalid without showing the text: it may be a secret.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

std::string to_base64(std::string_view bytes);
Result<std::string> from_base64(std::string_view text);

}  // namespace espalier
