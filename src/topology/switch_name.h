// Names that Slurm can carry for the switches of a fabric.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace espalier::topology {

// 24.11: a longer SwitchName is fatal, so is one with 20 or more digits at its end.
inline constexpr std::size_t kMaxSwitchName = 64;
inline constexpr std::size_t kMaxTrailingDigits = 19;

std::size_t trailing_digits(std::string_view name);
// Letters, digits, '.', '_' and '-', a letter or digit first.
bool has_plain_letters(std::string_view name);
// Both, within the bounds above.
bool is_slurm_name(std::string_view name);

// Gives every switch id a name of its own. An id that Slurm can carry is its own name; any other gets the readable part
// of it and a hash of the whole, the same in every plan.
class SwitchNames {
 public:
  SwitchNames();
  std::string name_for(std::string_view id);
  // A name that is given already.
  void reserve(std::string_view name) { taken_.emplace(name); }

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace espalier::topology
