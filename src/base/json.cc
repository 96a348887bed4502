#include "base/json.h"

#include <algorithm>
#include <cmath>

namespace espalier {

// The parser takes a number that is too large for infinite, and what is written of that no parser reads: kept in the
// store it would make the whole row unreadable.
static bool is_finite(const json::value& value) {
  if (value.is_double()) return std::isfinite(value.get_double());
  if (value.is_array()) return std::ranges::all_of(value.get_array(), is_finite);
  return !value.is_object() ||
         std::ranges::all_of(value.get_object(), [](const auto& item) { return is_finite(item.value()); });
}

Result<json::value> parse_json(std::string_view text) {
  boost::system::error_code ec;
  json::stream_parser parser({}, {.max_depth = 64});
  const std::size_t read = parser.write_some(text.data(), text.size(), ec);
  if (!ec && read < text.size() && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
    ec = json::error::extra_data;
  if (!ec) parser.finish(ec);
  if (ec) return fail(ErrorCode::kInvalid, "not JSON: {} near byte {}", ec.message(), read);
  json::value value = parser.release();
  if (!is_finite(value)) return fail(ErrorCode::kInvalid, "not JSON: a number is too large");
  return value;
}

namespace {

void print(const json::value& v, int indent, std::string& out) {
  const std::string pad(static_cast<std::size_t>(indent) + 2, ' ');
  if (v.is_object() && !v.get_object().empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& [key, item] : v.get_object()) {
      if (!first) out += ",\n";
      first = false;
      out += pad + json::serialize(json::string(key)) + ": ";
      print(item, indent + 2, out);
    }
    out += "\n" + pad.substr(2) + "}";
  } else if (v.is_array() && !v.get_array().empty()) {
    out += "[\n";
    bool first = true;
    for (const auto& item : v.get_array()) {
      if (!first) out += ",\n";
      first = false;
      out += pad;
      print(item, indent + 2, out);
    }
    out += "\n" + pad.substr(2) + "]";
  } else {
    out += json::serialize(v);
  }
}

}  // namespace

std::string pretty_json(const json::value& value) {
  std::string out;
  print(value, 0, out);
  return out;
}

Error json_detail::type_error(std::string_view path, std::string_view wanted, const json::value& got) {
  return {ErrorCode::kInvalid,
          fmt::format("{}: expected {}, found {}", path.empty() ? "value" : path, wanted, json::to_string(got.kind()))};
}

}  // namespace espalier
