#include <optional>

#include "topology/sources/merge.h"

namespace espalier::topology {

Result<NameTable> read_names(std::string_view text) {
  NameTable out;
  std::optional<Error> wrong;
  for_each_line(text, [&](std::string_view raw, std::size_t number) {
    const auto line = trim(raw.substr(0, raw.find('#')));
    if (line.empty() || wrong) return;
    const auto end = line.find_first_of(" \t,");
    const auto id = line.substr(0, end);
    const auto name = end == std::string_view::npos ? std::string_view() : trim(line.substr(end + 1));
    if (id.empty() || name.empty() || name.find_first_of(" \t,") != std::string_view::npos)
      wrong = Error{ErrorCode::kInvalid, fmt::format("line {}: 'ID NAME' was expected, not '{}'", number, line)};
    else if (out.size() < 8 * kMaxMachines)  // a machine may have an id in every source, and a GUID for each adapter
      out.try_emplace(std::string(id), name);
  });
  if (wrong) return tl::unexpected(*wrong);
  return out;
}

Located rename(Located located, const NameTable& names) {
  if (names.empty()) return located;
  const auto name_of = [&](const std::string& id) {
    const auto found = names.find(id);
    return found == names.end() ? id : found->second;
  };
  Located out;
  for (auto& [id, position] : located.positions) {
    const auto name = name_of(id);
    if (!out.positions.try_emplace(name, std::move(position)).second)
      located.left_out.add(fmt::format("{}: {} has a position by another id", id, name));
    else if (located.doubtful.contains(id))
      out.doubtful.insert(name);
  }
  out.left_out = std::move(located.left_out);
  return out;
}

}  // namespace espalier::topology
