// The answers of EC2's two topology operations, also several pages one after the other.
#include <optional>

#include "base/json.h"
#include "topology/sources/source.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kMaxNetworkNodes = 20;  // EC2 gives 3 or 4

// A member by its name, as the AWS CLI (InstanceId) and the SDKs (instanceId) write it.
const json::value* find(const json::object& object, std::string name) {
  if (const auto* found = object.if_contains(name)) return found;
  name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return object.if_contains(name);
}

// "" for absent, null, and the word "null", which has been seen where null was meant.
std::string text_of(const json::object& object, const char* name) {
  const auto* value = find(object, name);
  if (value == nullptr || !value->is_string() || value->get_string() == "null") return "";
  return std::string(std::string_view(value->get_string()));
}

std::vector<std::string> network_nodes(const json::object& object) {
  std::vector<std::string> out;
  const auto* list = find(object, "NetworkNodes");
  if (list == nullptr || !list->is_array()) return out;
  for (const auto& node : list->get_array())
    if (node.is_string() && !node.get_string().empty() && out.size() < kMaxNetworkNodes)
      out.emplace_back(std::string_view(node.get_string()));
  return out;
}

void take(const json::value& entry, const char* id_member, Located& out) {
  if (!entry.is_object()) return out.left_out.add("an entry that is not an object");
  const auto& object = entry.get_object();
  const auto id = text_of(object, id_member);
  if (id.empty()) return out.left_out.add(fmt::format("an entry without {}", id_member));
  Position position{network_nodes(object), text_of(object, "CapacityBlockId")};
  if (position.network_nodes.empty() && position.domain.empty())
    return out.left_out.add(fmt::format("{}: no network nodes yet", id));
  if (!has_room(out, id)) return;
  auto [at, is_new] = out.positions.try_emplace(id, position);
  if (is_new || at->second == position) return;
  // A machine that moved while the pages were read: the later answer counts.
  out.doubtful.insert(id);
  out.left_out.add(fmt::format("{}: two different positions in the same answer", id));
  at->second = std::move(position);
}

Result<void> take_page(const json::value& page, Located& out) {
  if (!page.is_object()) return fail(ErrorCode::kInvalid, "an answer of EC2 is a JSON object");
  bool known = false;
  for (const auto& [list_name, id] :
       {std::pair("Instances", "InstanceId"), std::pair("CapacityReservations", "CapacityReservationId")}) {
    const auto* list = find(page.get_object(), list_name);
    if (list == nullptr || !list->is_array()) continue;
    known = true;
    for (const auto& entry : list->get_array()) take(entry, id, out);
  }
  if (known) return {};
  return fail(ErrorCode::kInvalid,
              "neither 'Instances' nor 'CapacityReservations' is in the answer: is it from "
              "describe-instance-topology or describe-capacity-reservation-topology?");
}

// The next JSON value at the front of text; nothing at its end.
Result<std::optional<json::value>> next_value(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.empty()) return std::nullopt;
  json::stream_parser parser({}, {.max_depth = 64});
  boost::system::error_code ec;
  const auto read = parser.write_some(text.data(), text.size(), ec);
  if (!ec && !parser.done()) parser.finish(ec);
  if (ec) return fail(ErrorCode::kInvalid, "not JSON: {} near byte {} of a page", ec.message(), read);
  text.remove_prefix(read);
  return parser.release();
}

}  // namespace

Result<Located> read_ec2(std::string_view text) {
  Located out;
  bool more = false, any = false;
  for (;;) {
    const auto value = next_value(text);
    if (!value) return tl::unexpected(value.error());
    if (!*value) break;
    const auto& pages = **value;
    any = true;
    const auto take_one = [&](const json::value& page) {
      more = page.is_object() && !text_of(page.get_object(), "NextToken").empty();
      return take_page(page, out);
    };
    if (!pages.is_array()) {
      if (auto ok = take_one(pages); !ok) return tl::unexpected(ok.error());
      continue;
    }
    for (const auto& page : pages.get_array())
      if (auto ok = take_one(page); !ok) return tl::unexpected(ok.error());
  }
  if (!any) return fail(ErrorCode::kInvalid, "empty: an answer of EC2 as JSON was expected");
  if (more) out.left_out.add("the last page has a NextToken: the machines of further pages are missing");
  return out;
}

}  // namespace espalier::topology
