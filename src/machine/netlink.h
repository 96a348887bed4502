// The few words of rtnetlink that machines need: links, addresses, a default route. No program is started for them.
//
// Every call is answered by the kernel before it returns. A Netlink belongs to the network namespace of the thread
// that opened it, and to one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace espalier::machine {

struct Link {
  int index = 0;
  std::string alias;  // what `ip link set alias` gave it
  std::string kind;   // "bridge", "veth", …
};

class Netlink {
 public:
  static Result<Netlink> open();

  // kNotFound: there is no such link.
  Result<Link> find(std::string_view name);
  // Up, with a hardware address of its own (of `address`), so that it stays the same as ports come and go.
  Result<void> add_bridge(std::string_view name, std::string_view alias, std::string_view address);
  // A cable from `name` here, on the bridge and up, to `eth0` in the namespace of `peer_pid`, down. The hardware
  // address of eth0 follows from the machine's IPv4 address: a machine that takes over an address is reached at once.
  Result<void> add_cable(std::string_view name, const Link& bridge, int peer_pid, std::string_view address);
  // Gone before is a success.
  Result<void> remove(std::string_view name);
  Result<void> bring_up(std::string_view name);
  Result<void> add_address(const Link& link, std::string_view address, int prefix);
  Result<void> add_default_route(const Link& link, std::string_view gateway);

 private:
  explicit Netlink(UniqueFd socket) : socket_(std::move(socket)) {}
  Result<std::vector<char>> exchange(std::vector<char>& message, std::string_view what);

  UniqueFd socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace espalier::machine
