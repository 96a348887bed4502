#include "api/validate.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace espalier::api {
namespace {

constexpr std::size_t kShownBytes = 3500;  // of problems: errors.cc cuts messages soon after
constexpr std::size_t kShownValue = 80;
constexpr const char* kForEks =
    "Member is for clusters with Orchestrator.Eks; Espalier runs Slurm clusters: leave it out";
constexpr double kLastSecond = 253'402'300'799;  // the end of year 9999

class Walk {
 public:
  void visit(const Shape& shape, const json::value& value, const std::string& path) {
    if (shape.type == "structure") return structure(shape, value, path);
    if (shape.type == "list") return list(shape, value, path);
    if (shape.type == "map") return map(shape, value, path);
    if (shape.type == "string") return string(shape, value, path);
    if (shape.type == "boolean") return boolean(value, path);
    if (shape.type == "timestamp") return timestamp(value, path);
    number(shape, value, path);
  }

  Result<void> result() const {
    if (count_ == 0) return {};
    return fail(ErrorCode::kInvalid, "{} validation error{} detected: {}{}", count_, count_ == 1 ? "" : "s",
                fmt::join(problems_, "; "),
                count_ > problems_.size() ? fmt::format("; … and {} more", count_ - problems_.size()) : "");
  }

 private:
  void problem(const json::value* value, const std::string& path, std::string_view constraint) {
    ++count_;
    if (shown_bytes_ > kShownBytes) return;
    std::string shown = value ? json::serialize(*value) : "null";
    if (value && value->is_string()) shown = "'" + std::string(std::string_view(value->get_string())) + "'";
    const bool show = shown.size() <= kShownValue && !(value && value->is_structured());
    problems_.push_back(
        fmt::format("Value {}at '{}' failed to satisfy constraint: {}", show ? shown + " " : "", path, constraint));
    shown_bytes_ += problems_.back().size();
  }
  bool expect(bool good, const json::value& value, const std::string& path, std::string_view constraint) {
    if (!good) problem(&value, path, constraint);
    return good;
  }

  static std::string below(const std::string& path, std::string name) {
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    return path.empty() ? name : path + "." + name;
  }

  void structure(const Shape& shape, const json::value& value, const std::string& path) {
    if (!expect(value.is_object(), value, path, "Member must be a structure")) return;
    std::size_t set = 0;
    for (const auto& [name, member] : shape.members) {
      const auto* item = value.get_object().if_contains(name);
      if (!item || item->is_null()) {
        if (member.required || !member.need.empty())
          problem(nullptr, below(path, name),
                  fmt::format("Member must not be null{}{}", member.need.empty() ? "" : ": ", member.need));
        continue;
      }
      ++set;
      if (member.eks)
        problem(item, below(path, name), kForEks);
      else if (!member.refuse.empty())
        problem(item, below(path, name), member.refuse);
      else
        visit(api::shape(member.shape), *item, below(path, name));
    }
    if (shape.oneOf && set != 1)
      problem(&value, path, fmt::format("Member must have exactly one of [{}]", fmt::join(names(shape), ", ")));
  }

  void list(const Shape& shape, const json::value& value, const std::string& path) {
    if (!expect(value.is_array(), value, path, "Member must be a list")) return;
    const auto& items = value.get_array();
    bounds(shape, static_cast<double>(items.size()), value, path, "length");
    if (shape.max && items.size() > static_cast<std::size_t>(*shape.max))
      return;  // else millions of items were looked at
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto at = fmt::format("{}.{}.member", path, i + 1);
      if (items[i].is_null())
        problem(nullptr, at, "Member must not be null");
      else
        visit(api::shape(shape.member), items[i], at);
    }
    if (!shape.unique.empty()) unique(shape.unique, items, path);
  }

  void unique(const std::string& member, const json::array& items, const std::string& path) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto* value = items[i].is_object() ? items[i].get_object().if_contains(member) : nullptr;
      if (value && !value->is_null() && !seen.insert(json::serialize(*value)).second)
        problem(value, below(fmt::format("{}.{}.member", path, i + 1), member), "Member must differ from all others");
    }
  }

  void map(const Shape& shape, const json::value& value, const std::string& path) {
    if (!expect(value.is_object(), value, path, "Member must be a map")) return;
    const auto size = value.get_object().size();
    bounds(shape, static_cast<double>(size), value, path, "length");
    if (shape.max && size > static_cast<std::size_t>(*shape.max)) return;
    for (const auto& [key, item] : value.get_object()) {
      const auto at = path + "." + std::string(key);
      visit(api::shape(shape.key), json::string(key), at);
      if (!item.is_null()) visit(api::shape(shape.value), item, at);
    }
  }

  void string(const Shape& shape, const json::value& value, const std::string& path) {
    if (!expect(value.is_string(), value, path, "Member must be a string")) return;
    const std::string_view text = value.get_string();
    const auto characters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    bounds(shape, static_cast<double>(characters), value, path, "length");
    if (shape.regex && !re2::RE2::FullMatch({text.data(), text.size()}, *shape.regex))
      problem(&value, path, "Member must satisfy regular expression pattern: " + shape.pattern);
    if (!shape.values.empty() && std::find(shape.values.begin(), shape.values.end(), text) == shape.values.end())
      problem(&value, path,
              shape.hint
                  ? fmt::format("Member must be one of the {} known values: {}", shape.values.size(), shape.hint(text))
                  : fmt::format("Member must satisfy enum value set: [{}]", fmt::join(shape.values, ", ")));
  }

  void number(const Shape& shape, const json::value& value, const std::string& path) {
    const bool whole = value.is_int64();  // what does not fit is none of ours
    if (shape.type == "integer" && !expect(whole, value, path, "Member must be an integer")) return;
    if (!expect(value.is_number(), value, path, "Member must be a number")) return;
    bounds(shape, value.to_number<double>(), value, path, "value");
  }

  void boolean(const json::value& value, const std::string& path) {
    expect(value.is_bool(), value, path, "Member must be true or false");
  }

  void timestamp(const json::value& value, const std::string& path) {
    const bool good = value.is_number() && std::abs(value.to_number<double>()) <= kLastSecond;
    expect(good, value, path, "Member must be a timestamp: a number of seconds since 1970, fraction allowed");
  }

  void bounds(const Shape& shape, double found, const json::value& value, const std::string& path, const char* what) {
    if (shape.min && found < static_cast<double>(*shape.min))
      problem(&value, path, fmt::format("Member must have {} greater than or equal to {}", what, *shape.min));
    if (shape.max && found > static_cast<double>(*shape.max))
      problem(&value, path, fmt::format("Member must have {} less than or equal to {}", what, *shape.max));
  }

  static std::vector<std::string> names(const Shape& shape) {
    std::vector<std::string> out;
    for (const auto& [name, member] : shape.members) out.push_back(name);
    return out;
  }

  std::vector<std::string> problems_;
  std::size_t count_ = 0;
  std::size_t shown_bytes_ = 0;
};

}  // namespace

json::value known(const Shape& shape, const json::value& value) {
  if (value.is_null()) return value;
  if (shape.type == "list") {
    json::array items;
    for (const auto& item : value.get_array()) items.push_back(known(api::shape(shape.member), item));
    return items;
  }
  if (shape.type != "structure" && shape.type != "map") return value;
  json::object members;
  for (const auto& [name, item] : value.get_object()) {
    const auto found = shape.members.find(std::string(name));
    if (shape.type == "structure" && found == shape.members.end()) continue;
    members[name] = known(api::shape(shape.type == "map" ? shape.value : found->second.shape), item);
  }
  return members;
}

Result<void> validate(const Shape& shape, const json::object& input) {
  Walk walk;
  walk.visit(shape, input, "");
  return walk.result();
}

}  // namespace espalier::api
