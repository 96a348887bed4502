#include "agent/hosts_file.h"

#include <algorithm>

namespace espalier::agent {

namespace {

// The lines outside of the block. A block that lost its end goes up to the end of the file: all of it is ours.
std::string outside(std::string_view text) {
  std::string out;
  bool ours = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == kHostsBegin) ours = true;
    if (!ours) out.append(line) += '\n';
    if (line == kHostsEnd) ours = false;
  }
  return out;
}

}  // namespace

std::string with_hosts(std::string_view text, const std::vector<HostEntry>& hosts) {
  std::string out = outside(text);
  if (hosts.empty()) return out;
  out.append(kHostsBegin) += '\n';
  for (const auto& host : hosts) out += host.address + " " + host.name + "\n";
  out.append(kHostsEnd) += '\n';
  return out;
}

}  // namespace espalier::agent
