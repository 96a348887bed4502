// What exec and its kin want of a list of words.
#pragma once

#include <string>
#include <vector>

namespace espalier {

// Ends with a null pointer; good as long as `words` is left alone. exec writes to none of them.
inline std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace espalier
