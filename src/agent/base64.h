// Base64 (RFC 4648) to bytes. kInvalid without showing the text: it may be a secret.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier::agent {

Result<std::string> from_base64(std::string_view text);

}  // namespace espalier::agent
