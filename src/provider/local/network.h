// The network of all local machines: one bridge, one subnet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "base/result.h"

namespace espalier::local {

struct Subnet {
  std::uint32_t base = 0;  // host byte order
  int prefix = 16;

  [[nodiscard]] std::uint32_t size() const { return 1U << (32 - prefix); }
  [[nodiscard]] std::uint32_t gateway() const { return base + 1; }
  [[nodiscard]] bool contains(std::uint32_t address) const { return address - base < size(); }
  bool operator==(const Subnet&) const = default;
};
// "10.77.0.0/16"; prefixes /8 to /29.
Result<Subnet> parse_subnet(const std::string& text);
Result<std::uint32_t> parse_address(const std::string& text);
std::string address_text(std::uint32_t address);

// Hands out addresses in rotation, so that one that is given back rests for as long as others are free: Slurm may still
// take what answers there for the machine that had it.
class AddressRotation {
 public:
  explicit AddressRotation(Subnet subnet) : subnet_(subnet), last_(subnet.gateway()) {}
  // The next ones come after this one.
  void continue_after(std::uint32_t address) { last_ = address; }
  // kLimit: all are in use. The caller keeps `used`.
  Result<std::uint32_t> next(const std::set<std::uint32_t>& used);

 private:
  const Subnet subnet_;
  std::uint32_t last_;
};

// Makes the bridge, up and with the gateway's address, unless it is there. It carries `owner` as its alias.
// kConflict: the name is somebody else's, or the subnet is in use on this host.
Result<void> ensure_bridge(const std::string& name, const Subnet& subnet, const std::string& owner);

// Machines remember each other's hardware addresses, and the kernel has one table of them for all namespaces: with its
// default of 1024 entries, connections begin to fail at some 150 machines. Raises the bounds in this folder, never
// lowers one. False: they cannot be raised from here (the namespace of a container has none).
bool allow_many_neighbours(const std::filesystem::path& bounds = "/proc/sys/net/ipv4/neigh/default");

// Leaves alone what is not the owner's.
Result<void> remove_bridge(const std::string& name, const std::string& owner);

}  // namespace espalier::local
