// JSON of plain structs, from their Boost.Describe description: to_json(value), from_json<T>(json).
//
// Reading is tolerant where the wire is: unknown members are ignored, null and absent leave a member at its default.
// A member of the wrong type is an error that names its path. Enums are their names, times are epoch milliseconds,
// durations are milliseconds, optionals without value are left out.
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "base/result.h"

namespace espalier {

namespace json = boost::json;

// Parses text. The error says where it stopped. Bounded: 64 levels deep.
Result<json::value> parse_json(std::string_view text);
// Indented by two spaces, for people.
std::string pretty_json(const json::value& value);

namespace json_detail {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename K, typename V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <typename T>
struct IsId : std::false_type {};
template <typename T>
struct IsId<Id<T>> : std::true_type {};

template <typename T>
concept Described = boost::describe::has_describe_members<T>::value && !std::is_enum_v<T>;
template <typename T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

Error type_error(std::string_view path, std::string_view wanted, const json::value& got);

}  // namespace json_detail

template <typename E>
  requires std::is_enum_v<E>
std::string_view enum_name(E e) {
  return boost::describe::enum_to_string(e, "?");
}
template <typename E>
  requires std::is_enum_v<E>
std::optional<E> enum_value(std::string_view name) {
  std::optional<E> found;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto d) {
    if (name == d.name) found = d.value;
  });
  return found;
}

template <typename T>
json::value to_json(const T& v) {
  using namespace json_detail;
  if constexpr (std::is_same_v<T, json::value> || std::is_same_v<T, json::object> || std::is_same_v<T, json::array>) {
    return v;
  } else if constexpr (std::is_same_v<T, bool> || std::is_arithmetic_v<T>) {
    return v;
  } else if constexpr (std::is_enum_v<T>) {
    return json::string(enum_name(v));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return json::string(std::string_view(v));
  } else if constexpr (IsId<T>::value) {
    return json::string(v.value);
  } else if constexpr (std::is_same_v<T, Time>) {
    return v.time_since_epoch().count();
  } else if constexpr (std::is_same_v<T, Millis>) {
    return v.count();
  } else if constexpr (IsOptional<T>::value) {
    return v ? to_json(*v) : json::value(nullptr);
  } else if constexpr (IsVector<T>::value) {
    json::array out;
    out.reserve(v.size());
    for (const auto& item : v) out.push_back(to_json(item));
    return out;
  } else if constexpr (IsMap<T>::value) {
    json::object out;
    for (const auto& [key, item] : v) out[key] = to_json(item);
    return out;
  } else {
    static_assert(Described<T>, "give it BOOST_DESCRIBE_STRUCT");
    json::object out;
    boost::mp11::mp_for_each<Members<T>>([&](auto d) {
      const auto& member = v.*d.pointer;
      if constexpr (IsOptional<std::decay_t<decltype(member)>>::value) {
        if (!member) return;
      }
      out[d.name] = to_json(member);
    });
    return out;
  }
}

// Reads j into out. path is for the error message, "" at the top.
template <typename T>
Result<void> read_json(const json::value& j, T& out, const std::string& path = "") {
  using namespace json_detail;
  if constexpr (std::is_same_v<T, json::value>) {
    out = j;
  } else if constexpr (IsOptional<T>::value) {
    if (j.is_null()) {
      out.reset();
      return {};
    }
    out.emplace();
    return read_json(j, *out, path);
  } else if (j.is_null()) {
    return {};
  } else if constexpr (std::is_same_v<T, json::object>) {
    if (!j.is_object()) return tl::unexpected(type_error(path, "an object", j));
    out = j.get_object();
  } else if constexpr (std::is_same_v<T, json::array>) {
    if (!j.is_array()) return tl::unexpected(type_error(path, "a list", j));
    out = j.get_array();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!j.is_bool()) return tl::unexpected(type_error(path, "true or false", j));
    out = j.get_bool();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!j.is_number()) return tl::unexpected(type_error(path, "a number", j));
    out = j.to_number<T>();
  } else if constexpr (std::is_arithmetic_v<T>) {
    boost::system::error_code ec;
    const T n = j.is_number() ? j.to_number<T>(ec) : T{};
    if (!j.is_number() || ec) return tl::unexpected(type_error(path, "a whole number in range", j));
    out = n;
  } else if constexpr (std::is_enum_v<T>) {
    if (!j.is_string()) return tl::unexpected(type_error(path, "a string", j));
    auto e = enum_value<T>(std::string_view(j.get_string()));
    if (!e) return fail(ErrorCode::kInvalid, "{}: unknown value '{}'", path, std::string_view(j.get_string()));
    out = *e;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!j.is_string()) return tl::unexpected(type_error(path, "a string", j));
    out = std::string(std::string_view(j.get_string()));
  } else if constexpr (IsId<T>::value) {
    return read_json(j, out.value, path);
  } else if constexpr (std::is_same_v<T, Time>) {
    Millis::rep n = 0;
    auto ok = read_json(j, n, path);
    out = Time(Millis(n));
    return ok;
  } else if constexpr (std::is_same_v<T, Millis>) {
    Millis::rep n = 0;
    auto ok = read_json(j, n, path);
    out = Millis(n);
    return ok;
  } else if constexpr (IsVector<T>::value) {
    if (!j.is_array()) return tl::unexpected(type_error(path, "a list", j));
    out.clear();
    out.reserve(j.get_array().size());
    for (const auto& item : j.get_array()) {
      out.emplace_back();
      if (auto ok = read_json(item, out.back(), path + "[" + std::to_string(out.size() - 1) + "]"); !ok) return ok;
    }
  } else if constexpr (IsMap<T>::value) {
    if (!j.is_object()) return tl::unexpected(type_error(path, "an object", j));
    out.clear();
    for (const auto& [key, item] : j.get_object()) {
      if (auto ok = read_json(item, out[typename T::key_type(std::string(key))], path + "." + std::string(key)); !ok)
        return ok;
    }
  } else {
    static_assert(Described<T>, "give it BOOST_DESCRIBE_STRUCT");
    if (!j.is_object()) return tl::unexpected(type_error(path, "an object", j));
    const auto& object = j.get_object();
    Result<void> result;
    boost::mp11::mp_for_each<Members<T>>([&](auto d) {
      if (!result) return;
      if (const auto* member = object.if_contains(d.name))
        result = read_json(*member, out.*d.pointer, path.empty() ? d.name : path + "." + d.name);
    });
    return result;
  }
  return {};
}

template <typename T>
Result<T> from_json(const json::value& j) {
  T out{};
  if (auto ok = read_json(j, out); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace espalier
