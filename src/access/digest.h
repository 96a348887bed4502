// SHA-256 and what is made from it. Raw bytes unless the name says hex.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace espalier::access {

std::string sha256_hex(std::string_view data);
std::string hmac_sha256(std::string_view key, std::string_view data);
std::string to_hex(std::string_view bytes);  // lower case
// Nothing when it is no hexadecimal text.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace espalier::access
