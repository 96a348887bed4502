#include "simulate/members.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "cli/duration.h"
#include "model/instance_type.h"

namespace espalier::simulate {

Members::Members(Reading& reading, const YAML::Node& map, std::string path,
                 std::initializer_list<std::string_view> names)
    : reading_(reading), map_(map), path_(std::move(path)) {
  check(names);
}

void Members::check(std::initializer_list<std::string_view> names) {
  if (reading_.failed()) return;
  if (!map_.IsMap())
    return reading_.wrong(map_.Mark(), "{} must be a map with {}", path_.empty() ? "a scenario" : path_,
                          fmt::join(names, ", "));
  std::set<std::string> seen;
  for (const auto& member : map_) {
    const std::string name = member.first.IsScalar() ? member.first.Scalar() : "?";
    if (std::ranges::find(names, name) == names.end())
      return reading_.wrong(member.first.Mark(), "unknown member '{}'; there are {}", this->path(name),
                            fmt::join(names, ", "));
    if (!seen.insert(name).second) return reading_.wrong(member.first.Mark(), "'{}' is there twice", this->path(name));
  }
}

bool Members::has(const char* name) const { return map_.IsMap() && map_[name]; }
YAML::Node Members::at(const char* name) const {
  return has(name) ? map_[name] : YAML::Node(YAML::NodeType::Undefined);
}
std::string Members::path(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }

void Members::require(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (!reading_.failed() && !has(name)) reading_.wrong(map_.Mark(), "'{}' is missing", path(name));
}

std::optional<std::string> Members::scalar(const char* name) {
  if (reading_.failed() || !has(name)) return std::nullopt;
  if (map_[name].IsScalar()) return map_[name].Scalar();
  reading_.wrong(map_[name].Mark(), "'{}' must be one value", path(name));
  return std::nullopt;
}

template <typename T>
std::optional<T> Members::value(const char* name, const char* kind) {
  const auto text = scalar(name);
  if (!text) return std::nullopt;
  try {
    return map_[name].as<T>();
  } catch (const YAML::Exception&) {
    reading_.wrong(map_[name].Mark(), "'{}' is '{}': it must be {}", path(name), *text, kind);
    return std::nullopt;
  }
}

void Members::text(const char* name, std::string& out) {
  constexpr std::size_t kMost = 200;
  auto read = scalar(name);
  if (!read) return;
  if (read->empty() || read->size() > kMost)
    return reading_.wrong(map_[name].Mark(), "'{}' must have 1 to {} characters", path(name), kMost);
  out = std::move(*read);
}

void Members::number(const char* name, int& out, int from, int to) {
  const auto read = value<int>(name, "a whole number");
  if (!read) return;
  if (*read < from || *read > to)
    return reading_.wrong(map_[name].Mark(), "'{}' is {}: it must be {} to {}", path(name), *read, from, to);
  out = *read;
}

void Members::number(const char* name, std::uint64_t& out) {
  if (const auto read = value<std::uint64_t>(name, "a whole number, 0 or more")) out = *read;
}

void Members::share(const char* name, double& out) {
  const auto read = value<double>(name, "a number");
  if (!read) return;
  if (!(*read >= 0 && *read <= 1))
    return reading_.wrong(map_[name].Mark(), "'{}' is {}: it must be 0 to 1", path(name), *read);
  out = *read;
}

void Members::flag(const char* name, bool& out) {
  if (const auto read = value<bool>(name, "true or false")) out = *read;
}

namespace {

Result<Millis> read_duration(const std::string& text, Millis from, Millis to) {
  const auto length = text == "0" ? Millis(0) : cli::parse_duration(text);
  if (!length) return length;
  if (*length < from || *length > to)
    return fail(ErrorCode::kInvalid, "{} is not in {} to {}", text, cli::show_duration(from), cli::show_duration(to));
  return length;
}

}  // namespace

void Members::duration(const char* name, std::optional<Millis>& out, Millis from, Millis to) {
  const auto text = scalar(name);
  if (!text) return;
  const auto length = read_duration(*text, from, to);
  if (!length) return reading_.wrong(map_[name].Mark(), "'{}': {}", path(name), length.error().message);
  out = *length;
}

void Members::duration(const char* name, Millis& out, Millis from, Millis to) {
  std::optional<Millis> read;
  duration(name, read, from, to);
  if (read) out = *read;
}

// "3m", or "3m-5m".
void Members::range(const char* name, Range& out, Millis to) {
  const auto text = scalar(name);
  if (!text) return;
  const auto dash = text->find('-');
  const auto from = read_duration(text->substr(0, dash), Millis(0), to);
  const auto until = dash == std::string::npos ? from : read_duration(text->substr(dash + 1), Millis(0), to);
  for (const auto* part : {&from, &until})
    if (!*part) return reading_.wrong(map_[name].Mark(), "'{}': {}", path(name), part->error().message);
  if (*until < *from)
    return reading_.wrong(map_[name].Mark(), "'{}': the shorter time comes first, as in 3m-5m", path(name));
  out = {*from, *until};
}

void Members::type(const char* name, std::string& out) {
  const auto read = scalar(name);
  if (!read) return;
  if (find_instance_type(*read) == nullptr)
    return reading_.wrong(map_[name].Mark(), "'{}': there is no instance type '{}'; {}", path(name), *read,
                          instance_type_hint(*read));
  out = *read;
}

}  // namespace espalier::simulate
