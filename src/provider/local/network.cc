#include "provider/local/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <charconv>
#include <fstream>
#include <memory>
#include <utility>

#include "machine/netlink.h"

namespace espalier::local {

namespace {

std::uint32_t host_order(const sockaddr* address) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
}

// The name of a link other than `bridge` whose addresses are among the subnet's or contain it; "" when there is none.
std::string rival(const Subnet& subnet, const std::string& bridge) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* a = list; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET || a->ifa_netmask == nullptr) continue;
    const std::uint32_t address = host_order(a->ifa_addr);
    const std::uint32_t mask = host_order(a->ifa_netmask);
    const bool overlaps = subnet.contains(address) || (subnet.base & mask) == (address & mask);
    if (overlaps && bridge != a->ifa_name) return a->ifa_name;
  }
  return "";
}

}  // namespace

Result<std::uint32_t> parse_address(const std::string& text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) == 1) return ntohl(address.s_addr);
  return fail(ErrorCode::kInvalid, "'{}' is no IPv4 address", text);
}

std::string address_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255, address & 255);
}

Result<Subnet> parse_subnet(const std::string& text) {
  const auto slash = text.find('/');
  const auto base = parse_address(text.substr(0, slash));
  int prefix = 0;
  if (slash != std::string::npos) {
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data() + slash + 1, end, prefix).ptr != end) prefix = 0;
  }
  if (!base || prefix < 8 || prefix > 29)
    return fail(ErrorCode::kInvalid, "'{}' is no subnet for machines: write one such as 10.77.0.0/16, /8 to /29", text);
  const Subnet subnet{*base, prefix};
  if ((subnet.base & (subnet.size() - 1)) == 0) return subnet;
  return fail(ErrorCode::kInvalid, "the subnet '{}' does not begin there: the first address of that network is {}/{}",
              text, address_text(subnet.base & ~(subnet.size() - 1)), prefix);
}

Result<std::uint32_t> AddressRotation::next(const std::set<std::uint32_t>& used) {
  const std::uint32_t first = subnet_.gateway() + 1;
  const std::uint32_t count = subnet_.size() - 3;  // without the network's, the gateway's and the broadcast address
  for (std::uint32_t step = 0; step < count; ++step) {
    const std::uint32_t after = last_ + 1;
    last_ = after - first < count ? after : first;
    if (!used.contains(last_)) return last_;
  }
  return fail(ErrorCode::kLimit, "all {} addresses of {}/{} are in use: give the provider a larger subnet", count,
              address_text(subnet_.base), subnet_.prefix);
}

Result<void> ensure_bridge(const std::string& name, const Subnet& subnet, const std::string& owner) {
  auto net = machine::Netlink::open();
  if (!net) return tl::unexpected(net.error());
  auto bridge = net->find(name);
  if (!bridge) {
    if (const auto link = rival(subnet, name); !link.empty())
      return fail(ErrorCode::kConflict, "the subnet {}/{} is in use on this host by the link {}: choose another one",
                  address_text(subnet.base), subnet.prefix, link);
    if (auto made = net->add_bridge(name, owner, address_text(subnet.gateway())); !made) return made;
    bridge = net->find(name);
    if (!bridge) return tl::unexpected(bridge.error());
  } else if (bridge->kind != "bridge" || bridge->alias != owner) {
    return fail(ErrorCode::kConflict,
                "there is a link {} on this host that is not ours (alias '{}', ours would be '{}'): choose another "
                "bridge name, or remove it with `ip link del {}` if nothing uses it",
                name, bridge->alias, owner, name);
  }
  auto given = net->add_address(*bridge, address_text(subnet.gateway()), subnet.prefix);
  if (!given && given.error().code != ErrorCode::kExists) return given;
  return {};
}

bool allow_many_neighbours(const std::filesystem::path& bounds) {
  // Below the first nothing is collected; above the last nothing is taken. 2,000 machines need some 100,000.
  static constexpr std::pair<const char*, long> kWanted[] = {
      {"gc_thresh3", 1L << 19}, {"gc_thresh2", 1L << 18}, {"gc_thresh1", 1L << 16}};
  for (const auto& [name, wanted] : kWanted) {
    std::fstream file(bounds / name);
    long now = 0;
    if (!(file >> now)) return false;
    if (now >= wanted) continue;
    file.seekp(0);
    if (!(file << wanted << std::flush)) return false;
  }
  return true;
}

Result<void> remove_bridge(const std::string& name, const std::string& owner) {
  auto net = machine::Netlink::open();
  if (!net) return tl::unexpected(net.error());
  const auto bridge = net->find(name);
  if (!bridge || bridge->alias != owner) return {};
  return net->remove(name);
}

}  // namespace espalier::local
