// Paths written by hand or by a program, as CSV.
#include <fmt/ranges.h>

#include <algorithm>

#include "slurm/hostlist.h"
#include "topology/sources/paths.h"
#include "topology/sources/source.h"

namespace espalier::topology {

namespace {

// The next field; commas within quotes or brackets belong to it.
std::string take_field(std::string_view& rest) {
  std::string out;
  bool quoted = false;
  int depth = 0;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted && depth == 0)
      break;
    else
      out += c;
    if (c == '[') ++depth;
    if (c == ']') depth = std::max(0, depth - 1);
  }
  return std::string(trim(out));
}

bool is_heading(const std::string& first) { return first == "node" || first == "nodes" || first == "host"; }

}  // namespace

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty() && out.size() < kMaxPath) {
    const auto end = path.find('/');
    if (const auto part = trim(path.substr(0, end)); !part.empty()) out.emplace_back(part);
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return out;
}

void put(std::string_view hostlist, const Position& position, const std::string& where, Located& out) {
  const auto names = slurm::expand(hostlist);
  if (!names) return out.left_out.add(fmt::format("{}: {}", where, names.error().message));
  if (position.network_nodes.empty() && position.domain.empty())
    return out.left_out.add(fmt::format("{}: neither a path nor a domain", where));
  for (const auto& name : *names) {
    if (!has_room(out, name)) return;
    const auto [at, is_new] = out.positions.try_emplace(name, position);
    if (is_new || at->second == position) continue;
    out.doubtful.insert(name);
    out.left_out.add(fmt::format("{}: {} has another position above", where, name));
  }
}

Result<Located> read_csv(std::string_view text) {
  Located out;
  bool any = false;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    auto rest = trim(line.substr(0, line.find('#')));
    if (rest.empty()) return;
    any = true;
    const auto hosts = take_field(rest);
    if (is_heading(hosts)) return;
    const auto path = take_field(rest);
    put(hosts, {split_path(path), take_field(rest)}, fmt::format("line {}", number), out);
  });
  if (!any) return fail(ErrorCode::kInvalid, "no line is 'HOSTLIST,core/spine/leaf[,DOMAIN]'");
  return out;
}

std::string write_csv(const Positions& positions) {
  std::string out = "node,path,domain\n";
  for (const auto& [node, position] : positions)
    out += fmt::format("{},{},{}\n", node, fmt::join(position.network_nodes, "/"), position.domain);
  return out;
}

}  // namespace espalier::topology
