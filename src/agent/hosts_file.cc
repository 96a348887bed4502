#include "agent/hosts_file.h"

#include <algorithm>
#include <map>

namespace espalier::agent {

namespace {

// Calls back with every line, and whether it belongs to the block. A block that lost its end goes up to the end of the
// file: all of it is ours.
template <typename Line>
void each_line(std::string_view text, Line line_is) {
  bool ours = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == kHostsBegin) ours = true;
    line_is(line, ours);
    if (line == kHostsEnd) ours = false;
  }
}

std::string outside(std::string_view text) {
  std::string out;
  each_line(text, [&](std::string_view line, bool ours) {
    if (!ours) out.append(line) += '\n';
  });
  return out;
}

// Name → address.
std::map<std::string, std::string> inside(std::string_view text) {
  std::map<std::string, std::string> out;
  each_line(text, [&](std::string_view line, bool ours) {
    const auto space = line.find(' ');
    if (ours && !line.starts_with('#') && space != std::string_view::npos)
      out[std::string(line.substr(space + 1))] = line.substr(0, space);
  });
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

std::string with_delta(std::string_view text, const HostsDelta& delta) {
  auto hosts = inside(text);
  for (const auto& name : delta.drop) hosts.erase(name);
  for (const auto& host : delta.put) hosts[host.name] = host.address;
  std::vector<HostEntry> all;
  for (const auto& [name, address] : hosts) all.push_back({name, address});
  return with_hosts(text, all);
}

}  // namespace espalier::agent
