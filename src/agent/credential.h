// What an agent's credential says of itself.
#pragma once

#include <string_view>

namespace espalier::agent {

// "<cluster>.<slot>.<secret>.<fingerprint>": it is good with that certificate only. "" for one that was given to an
// agent without TLS.
inline std::string_view certificate_of(std::string_view credential) {
  for (int parts = 0; parts < 3; ++parts) {
    const auto dot = credential.find('.');
    if (dot == std::string_view::npos) return "";
    credential.remove_prefix(dot + 1);
  }
  return credential;
}

}  // namespace espalier::agent
