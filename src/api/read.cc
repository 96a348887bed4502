#include "api/read.h"

#include <algorithm>
#include <cmath>

namespace espalier::api {

const json::value* member(const json::object& object, std::string_view name) {
  const auto* found = object.if_contains(name);
  return found && !found->is_null() ? found : nullptr;
}

std::string text(const json::object& object, std::string_view name, std::string_view otherwise) {
  const auto* found = member(object, name);
  return std::string(found ? std::string_view(found->as_string()) : otherwise);
}

std::int64_t number(const json::object& object, std::string_view name, std::int64_t otherwise) {
  const auto* found = member(object, name);
  return found ? found->to_number<std::int64_t>() : otherwise;
}

bool flag(const json::object& object, std::string_view name) {
  const auto* found = member(object, name);
  return found && found->as_bool();
}

std::optional<Time> time(const json::object& object, std::string_view name) {
  const auto* found = member(object, name);
  if (!found) return std::nullopt;
  return Time(Millis(std::llround(found->to_number<double>() * 1000)));
}

Result<void> exactly_one_of(const json::object& object, std::initializer_list<std::string_view> names) {
  const auto there =
      std::ranges::count_if(names, [&](std::string_view name) { return member(object, name) != nullptr; });
  if (there == 1) return {};
  return fail(ErrorCode::kInvalid, "Pass exactly one of {}", fmt::join(names, ", "));
}

json::value timestamp(Time time) {
  const auto millis = time.time_since_epoch().count();
  if (millis % 1000 == 0) return millis / 1000;
  return static_cast<double>(millis) / 1000;
}

}  // namespace espalier::api
