// Reads members of a validated request: absent and null alike give the default.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace espalier::api {

// nullptr: absent or null.
const json::value* member(const json::object& object, std::string_view name);
std::string text(const json::object& object, std::string_view name, std::string_view otherwise = "");
std::int64_t number(const json::object& object, std::string_view name, std::int64_t otherwise = 0);
bool flag(const json::object& object, std::string_view name);
std::optional<Time> time(const json::object& object, std::string_view name);
// kInvalid when none of them is there, or more than one: what the shapes cannot say.
Result<void> exactly_one_of(const json::object& object, std::initializer_list<std::string_view> names);

// Epoch seconds, whole where it is, as clients like it.
json::value timestamp(Time time);

}  // namespace espalier::api
