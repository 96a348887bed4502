// Comparing what must not be guessed.
#pragma once

#include <string_view>

namespace espalier {

// Takes the same time wherever they differ; their lengths are no secret. Nothing is equal to an empty secret.
inline bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || a.empty()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | static_cast<unsigned char>(a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace espalier
