#include "topology/sources/source.h"

namespace espalier::topology {

bool has_room(Located& located, const std::string& id) {
  if (located.positions.size() < kMaxMachines || located.positions.contains(id)) return true;
  located.left_out.add(fmt::format("{}: there are more than {} machines", id, kMaxMachines));
  return false;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

}  // namespace espalier::topology
