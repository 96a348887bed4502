// Ids as distinct types: a SlotId is no MachineId.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <utility>

namespace espalier {

template <typename Tag>
struct Id {
  std::string value;

  Id() = default;
  explicit Id(std::string v) : value(std::move(v)) {}
  [[nodiscard]] bool empty() const { return value.empty(); }
  [[nodiscard]] const std::string& str() const { return value; }
  auto operator<=>(const Id&) const = default;
};

}  // namespace espalier

template <typename Tag>
struct std::hash<espalier::Id<Tag>> {
  std::size_t operator()(const espalier::Id<Tag>& id) const noexcept { return std::hash<std::string>()(id.value); }
};
