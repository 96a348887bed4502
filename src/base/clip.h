// The beginning of a text that others wrote: what is kept of it has an end, and stays UTF-8.
#pragma once

#include <string>

namespace espalier {

inline void clip(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (text[most] & 0xC0) == 0x80) --most;  // not in the middle of a character
  text.resize(most);
  text += " …";
}

}  // namespace espalier
