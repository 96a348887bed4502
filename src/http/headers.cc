#include <strings.h>

#include <algorithm>

#include "http/server.h"

namespace espalier::http {

bool CaseInsensitive::operator()(std::string_view a, std::string_view b) const {
  const int order = strncasecmp(a.data(), b.data(), std::min(a.size(), b.size()));
  return order != 0 ? order < 0 : a.size() < b.size();
}

std::string header(const Headers& headers, std::string_view name) {
  const auto found = headers.lower_bound(name);
  return found == headers.end() || CaseInsensitive()(name, found->first) ? "" : found->second;
}

}  // namespace espalier::http
