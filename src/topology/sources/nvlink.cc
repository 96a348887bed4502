// NVLink domains from lists of cluster UUID and clique id.
#include <algorithm>
#include <cctype>

#include "topology/sources/source.h"

namespace espalier::topology {
namespace {

// What the GPUs of one machine say.
struct Said {
  std::map<std::string, int> domains;  // none: unknown
};

struct Line {
  std::string_view host;
  std::string_view uuid;
  std::string_view clique;
};

// Splits at the first of the separators and at blanks around it.
std::string_view take_field(std::string_view& rest, std::string_view separators) {
  rest = trim(rest);
  const auto end = rest.find_first_of(separators);
  const auto field = trim(rest.substr(0, end));
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

bool is_uuid(std::string_view text) {
  return text.size() == 36 && std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) || c == '-'; });
}
bool is_known(std::string_view uuid) { return uuid.find_first_not_of("0-") != std::string_view::npos; }
bool is_unknown_word(std::string_view text) { return text.empty() || text[0] == '[' || text.starts_with("N/A"); }

std::string domain_of(const Line& line) {
  const bool has_clique = !is_unknown_word(line.clique);
  return has_clique ? fmt::format("{}.{}", line.uuid, line.clique) : std::string(line.uuid);
}

Line read_line(std::string_view text) {
  Line line;
  line.host = take_field(text, ": ,\t");
  line.uuid = take_field(text, " ,\t");
  line.clique = take_field(text, " ,\t");
  return line;
}

void conclude(const std::string& host, const Said& said, Located& out) {
  const auto best = std::ranges::max_element(said.domains, {}, [](const auto& each) { return each.second; });
  if (best == said.domains.end()) return out.left_out.add(fmt::format("{}: its NVLink domain is not known", host));
  if (!has_room(out, host)) return;
  out.positions[host].domain = best->first;
  if (said.domains.size() == 1) return;
  out.doubtful.insert(host);
  out.left_out.add(fmt::format("{}: its GPUs name {} different NVLink domains", host, said.domains.size()));
}

}  // namespace

Result<Located> read_nvlink(std::string_view text) {
  Located out;
  std::map<std::string, Said> hosts;
  for_each_line(text, [&](std::string_view raw, std::size_t number) {
    const auto content = trim(raw.substr(0, raw.find('#')));
    if (content.empty()) return;
    const auto line = read_line(content);
    const bool is_domain = is_uuid(line.uuid) && is_known(line.uuid);
    if (!is_domain && !is_unknown_word(line.uuid) && !is_uuid(line.uuid))
      return out.left_out.add(fmt::format("line {}: '{}' is no cluster UUID", number, line.uuid));
    if (hosts.size() >= kMaxMachines && !hosts.contains(std::string(line.host)))
      return out.left_out.add(fmt::format("line {}: there are more than {} machines", number, kMaxMachines));
    auto& said = hosts[std::string(line.host)];
    if (is_domain) ++said.domains[domain_of(line)];
  });
  for (const auto& [host, said] : hosts) conclude(host, said, out);
  if (hosts.empty()) return fail(ErrorCode::kInvalid, "no line is 'HOST: CLUSTER_UUID, CLIQUE_ID'");
  return out;
}

}  // namespace espalier::topology
