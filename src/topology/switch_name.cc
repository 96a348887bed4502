#include "topology/switch_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "topology/plan.h"

namespace espalier::topology {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kReadable = 40;

// Not isalnum: what a name may hold must not depend on the locale.
bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_allowed(char c) { return is_plain(c) || c == '.' || c == '_' || c == '-'; }

// FNV-1a: stable over versions and machines, unlike std::hash. The salt only grows when two ids collide in one plan.
std::uint64_t hash_of(std::string_view id, unsigned salt) {
  std::uint64_t hash = 14695981039346656037ULL + salt;
  for (const unsigned char c : id) hash = (hash ^ c) * 1099511628211ULL;
  return hash;
}

// "<readable part>.<16 hex digits>x"; the x keeps digits away from the end.
std::string hashed(std::string_view id, unsigned salt) {
  std::string readable;
  for (const char c : id.substr(0, kReadable)) readable += is_allowed(c) ? c : '-';
  if (readable.empty() || !is_plain(readable.front())) readable.insert(0, "s");
  return fmt::format("{}.{:0{}x}x", readable, hash_of(id, salt), kHashDigits);
}

// An id that looks like a name of ours must not pass for one.
bool looks_hashed(std::string_view name) {
  return name.size() > kHashDigits + 2 && name.back() == 'x' && name[name.size() - kHashDigits - 2] == '.';
}

}  // namespace

std::size_t trailing_digits(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos ? name.size() : name.size() - last - 1;
}

bool has_plain_letters(std::string_view name) {
  return !name.empty() && is_plain(name.front()) && std::ranges::all_of(name, is_allowed);
}

bool is_slurm_name(std::string_view name) {
  return has_plain_letters(name) && name.size() <= kMaxSwitchName && trailing_digits(name) <= kMaxTrailingDigits;
}

SwitchNames::SwitchNames() : taken_{kRoot, kUnplaced, kOffFabric} {}

std::string SwitchNames::name_for(std::string_view id) {
  std::string name = is_slurm_name(id) && !looks_hashed(id) ? std::string(id) : hashed(id, 0);
  for (unsigned salt = 1; !taken_.insert(name).second; ++salt) name = hashed(id, salt);
  return name;
}

}  // namespace espalier::topology
