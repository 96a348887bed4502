// The members of one map of a scenario, read one after the other. The first error counts, with its line and its path;
// what is read after it stays as it is. Absent members stay at their default.
#pragma once

#include <yaml-cpp/yaml.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/scenario.h"

namespace espalier::simulate {

// What was wrong first, for all maps of a file.
class Reading {
 public:
  template <typename... A>
  void wrong(const YAML::Mark& mark, fmt::format_string<A...> f, A&&... a) {
    if (!error_)
      error_ =
          Error{ErrorCode::kInvalid, fmt::format("line {}: {}", mark.line + 1, fmt::format(f, std::forward<A>(a)...))};
  }
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

class Members {
 public:
  // `path`: "groups.worker", "" for the file itself. `names`: those that the map may have.
  Members(Reading& reading, const YAML::Node& map, std::string path, std::initializer_list<std::string_view> names);

  [[nodiscard]] bool has(const char* name) const;
  // Says that one of these is missing.
  void require(std::initializer_list<const char*> names);
  void text(const char* name, std::string& out);
  void number(const char* name, int& out, int from, int to);
  void number(const char* name, std::uint64_t& out);
  void share(const char* name, double& out);  // 0 to 1
  void flag(const char* name, bool& out);
  void duration(const char* name, Millis& out, Millis from, Millis to);
  void duration(const char* name, std::optional<Millis>& out, Millis from, Millis to);
  void range(const char* name, Range& out, Millis to);
  // A name of an instance type.
  void type(const char* name, std::string& out);

  [[nodiscard]] YAML::Node at(const char* name) const;
  [[nodiscard]] std::string path(const std::string& name) const;
  // The map itself.
  [[nodiscard]] YAML::Mark mark() const { return map_.Mark(); }

 private:
  void check(std::initializer_list<std::string_view> names);
  // Its text; nothing when it is absent, or something has been wrong before.
  std::optional<std::string> scalar(const char* name);
  template <typename T>
  std::optional<T> value(const char* name, const char* kind);

  Reading& reading_;
  const YAML::Node map_;
  const std::string path_;
};

// Calls each(node, path) for the members of a list; absent is empty.
template <typename Each>
void for_each_of(Reading& reading, const YAML::Node& list, const std::string& path, Each each) {
  if (!list || reading.failed()) return;
  if (!list.IsSequence()) return reading.wrong(list.Mark(), "{} must be a list", path);
  if (list.size() > kMostSteps)
    return reading.wrong(list.Mark(), "{} has {} entries: {} at most", path, list.size(), kMostSteps);
  for (std::size_t i = 0; i < list.size() && !reading.failed(); ++i) each(list[i], fmt::format("{}[{}]", path, i));
}
// Calls each(name, node, path) for the members of a map, in their order.
template <typename Each>
void for_each_member(Reading& reading, const YAML::Node& map, const std::string& path, Each each) {
  if (!map || reading.failed()) return;
  if (!map.IsMap()) return reading.wrong(map.Mark(), "{} must be a map", path);
  for (const auto& member : map) {
    if (reading.failed()) return;
    const std::string name = member.first.IsScalar() ? member.first.Scalar() : "?";
    each(name, member.second, path + "." + name);
  }
}

}  // namespace espalier::simulate
