#include "cli/group_option.h"

#include <charconv>
#include <functional>
#include <map>

namespace espalier::cli {

namespace {

constexpr int kMostInstances = 6758;
constexpr std::string_view kKnownKeys = "name, type, count, partition, kind, min, threads, role";

using Setter = std::function<Result<void>(GroupOption&, std::string_view)>;

Setter text_setter(std::string GroupOption::* member) {
  return [member](GroupOption& group, std::string_view value) -> Result<void> {
    group.*member = std::string(value);
    return {};
  };
}

template <typename Member>
Setter count_setter(std::string_view key, Member member) {
  return [key, member](GroupOption& group, std::string_view value) -> Result<void> {
    auto count = parse_count(key, value);
    if (!count) return tl::unexpected(count.error());
    group.*member = *count;
    return {};
  };
}

Result<void> set_kind(GroupOption& group, std::string_view value) {
  static const std::map<std::string_view, NodeType> kKinds{
      {"compute", NodeType::Compute}, {"controller", NodeType::Controller}, {"login", NodeType::Login}};
  const auto found = kKinds.find(value);
  if (found == kKinds.end())
    return fail(ErrorCode::kInvalid, "kind={} is not known: use compute, controller or login", value);
  group.kind = found->second;
  return {};
}

const std::map<std::string_view, Setter>& setters() {
  static const std::map<std::string_view, Setter> table{
      {"name", text_setter(&GroupOption::name)},
      {"type", text_setter(&GroupOption::type)},
      {"partition", text_setter(&GroupOption::partition)},
      {"role", text_setter(&GroupOption::role)},
      {"kind", set_kind},
      {"count", count_setter("count", &GroupOption::count)},
      {"min", count_setter("min", &GroupOption::min)},
      {"threads", count_setter("threads", &GroupOption::threads)},
  };
  return table;
}

Result<void> set_part(GroupOption& group, std::string_view part) {
  const auto equals = part.find('=');
  const auto setter = setters().find(part.substr(0, equals));
  if (equals == std::string_view::npos || setter == setters().end())
    return fail(ErrorCode::kInvalid, "'{}' is no part of a group: write KEY=VALUE with a key of {}", part, kKnownKeys);
  return setter->second(group, part.substr(equals + 1));
}

Result<void> complete(GroupOption& group, std::string_view text) {
  if (group.name.empty() || group.type.empty())
    return fail(ErrorCode::kInvalid, "The group '{}' needs a name and a type, as in name=worker,type=ml.p5.48xlarge",
                text);
  if (group.kind == NodeType::Compute && group.partition.empty()) group.partition = group.name;
  return {};
}

}  // namespace

Result<int> parse_count(std::string_view what, std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count < 0 || count > kMostInstances)
    return fail(ErrorCode::kInvalid, "{}={} is no count: give a whole number from 0 to {}", what, text, kMostInstances);
  return count;
}

Result<GroupOption> parse_group(std::string_view text) {
  GroupOption group;
  for (auto rest = text; !rest.empty();) {
    const auto comma = rest.find(',');
    if (auto ok = set_part(group, rest.substr(0, comma)); !ok) return tl::unexpected(ok.error());
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (auto ok = complete(group, text); !ok) return tl::unexpected(ok.error());
  return group;
}

Result<Resize> parse_resize(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return fail(ErrorCode::kInvalid, "'{}' says no size: write GROUP=N, as in worker=16", text);
  const auto group = text.substr(0, equals);
  auto count = parse_count(group, text.substr(equals + 1));
  if (!count) return tl::unexpected(count.error());
  return Resize{std::string(group), *count};
}

}  // namespace espalier::cli
