#include "machine/netlink.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "machine/netlink_message.h"

namespace espalier::machine {

namespace {

constexpr std::uint16_t kCreate = NLM_F_CREATE | NLM_F_EXCL;

ErrorCode code_of(int error) {
  switch (error) {
    case ENODEV:
      return ErrorCode::kNotFound;
    case EEXIST:
      return ErrorCode::kExists;
    case EPERM:
      return ErrorCode::kPermission;
    default:
      return ErrorCode::kUnavailable;
  }
}

Result<in_addr> parse_address(std::string_view text) {
  in_addr address{};
  if (inet_pton(AF_INET, std::string(text).c_str(), &address) == 1) return address;
  return fail(ErrorCode::kInvalid, "'{}' is no IPv4 address", text);
}

// Locally administered, the last four bytes are the IPv4 address.
std::array<unsigned char, 6> hardware_address(in_addr address) {
  std::array<unsigned char, 6> out{0x02, 0x65};
  std::memcpy(out.data() + 2, &address, sizeof address);
  return out;
}

ifinfomsg link_header(unsigned flags = 0, unsigned change = 0, int index = 0) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = index;
  header.ifi_flags = flags;
  header.ifi_change = change;
  return header;
}

std::string text_of(const rtattr* attribute) {
  const auto* text = static_cast<const char*>(RTA_DATA(attribute));
  return {text, strnlen(text, RTA_PAYLOAD(attribute))};
}

Link read_link(const std::vector<char>& answer) {
  Link link;
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
  link.index = info->ifi_index;
  auto left = static_cast<int>(IFLA_PAYLOAD(header));
  for (const rtattr* a = IFLA_RTA(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (a->rta_type == IFLA_IFALIAS) link.alias = text_of(a);
    if (a->rta_type != IFLA_LINKINFO) continue;
    auto inner_left = static_cast<int>(RTA_PAYLOAD(a));
    for (auto* b = static_cast<const rtattr*>(RTA_DATA(a)); RTA_OK(b, inner_left); b = RTA_NEXT(b, inner_left))
      if (b->rta_type == IFLA_INFO_KIND) link.kind = text_of(b);
  }
  return link;
}

}  // namespace

Result<Netlink> Netlink::open() {
  UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return fail(ErrorCode::kPermission, "cannot open a netlink socket: {}", std::strerror(errno));
  return Netlink(std::move(socket));
}

// Sends a request and waits for its acknowledgement; the answer is what came before that, empty when nothing did.
Result<std::vector<char>> Netlink::exchange(std::vector<char>& message, std::string_view what) {
  const std::uint32_t sequence = ++sequence_;
  std::memcpy(message.data() + offsetof(nlmsghdr, nlmsg_seq), &sequence, sizeof sequence);
  if (send(socket_.get(), message.data(), message.size(), 0) < 0)
    return fail(ErrorCode::kUnavailable, "cannot {}: {}", what, std::strerror(errno));
  std::vector<char> answer;
  alignas(nlmsghdr) std::array<char, 32768> buffer{};
  while (true) {
    const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::kUnavailable, "cannot {}: {}", what, std::strerror(errno));
    auto left = static_cast<unsigned>(got);
    for (auto* h = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
      if (h->nlmsg_seq != sequence) continue;
      if (h->nlmsg_type != NLMSG_ERROR) {
        answer.assign(reinterpret_cast<char*>(h), reinterpret_cast<char*>(h) + h->nlmsg_len);
        continue;
      }
      const int error = -static_cast<const nlmsgerr*>(NLMSG_DATA(h))->error;
      if (error == 0) return answer;
      return fail(code_of(error), "cannot {}: {}", what, std::strerror(error));
    }
  }
}

Result<Link> Netlink::find(std::string_view name) {
  NetlinkMessage request(RTM_GETLINK, 0, link_header());
  request.text(IFLA_IFNAME, name);
  return exchange(request.finish(), fmt::format("find the link {}", name)).map(read_link);
}

Result<void> Netlink::add_bridge(std::string_view name, std::string_view alias, std::string_view address) {
  const auto parsed = parse_address(address);
  if (!parsed) return tl::unexpected(parsed.error());
  NetlinkMessage request(RTM_NEWLINK, kCreate, link_header(IFF_UP, IFF_UP));
  request.text(IFLA_IFNAME, name).number(IFLA_ADDRESS, hardware_address(*parsed));
  request.nested(IFLA_LINKINFO, [](NetlinkMessage& info) {
    info.text(IFLA_INFO_KIND, "bridge").nested(IFLA_INFO_DATA, [](NetlinkMessage& data) {
      data.number(IFLA_BR_MCAST_SNOOPING, std::uint8_t{0});
    });
  });
  if (auto made = exchange(request.finish(), fmt::format("make the bridge {}", name)); !made)
    return tl::unexpected(made.error());
  NetlinkMessage naming(RTM_NEWLINK, 0, link_header());  // the kernel takes no alias when it makes a link
  naming.text(IFLA_IFNAME, name).text(IFLA_IFALIAS, alias);
  auto named = exchange(naming.finish(), fmt::format("give the bridge {} the alias '{}'", name, alias));
  if (named) return {};
  (void)remove(name);
  return tl::unexpected(named.error());
}

Result<void> Netlink::add_cable(std::string_view name, const Link& bridge, int peer_pid, std::string_view address) {
  const auto parsed = parse_address(address);
  if (!parsed) return tl::unexpected(parsed.error());
  NetlinkMessage request(RTM_NEWLINK, kCreate, link_header(IFF_UP, IFF_UP));
  request.text(IFLA_IFNAME, name).number(IFLA_MASTER, bridge.index);
  request.nested(IFLA_LINKINFO, [&](NetlinkMessage& info) {
    info.text(IFLA_INFO_KIND, "veth").nested(IFLA_INFO_DATA, [&](NetlinkMessage& data) {
      data.nested(VETH_INFO_PEER, [&](NetlinkMessage& peer) {
        const auto header = link_header();
        peer.append(&header, sizeof header);
        peer.text(IFLA_IFNAME, "eth0").number(IFLA_ADDRESS, hardware_address(*parsed));
        peer.number(IFLA_NET_NS_PID, peer_pid);
      });
    });
  });
  return exchange(request.finish(), fmt::format("make the link {}", name)).map([](auto&&) {});
}

Result<void> Netlink::remove(std::string_view name) {
  NetlinkMessage request(RTM_DELLINK, 0, link_header());
  request.text(IFLA_IFNAME, name);
  auto removed = exchange(request.finish(), fmt::format("remove the link {}", name));
  if (!removed && removed.error().code != ErrorCode::kNotFound) return tl::unexpected(removed.error());
  return {};
}

Result<void> Netlink::bring_up(std::string_view name) {
  NetlinkMessage request(RTM_NEWLINK, 0, link_header(IFF_UP, IFF_UP));
  request.text(IFLA_IFNAME, name);
  return exchange(request.finish(), fmt::format("bring up the link {}", name)).map([](auto&&) {});
}

Result<void> Netlink::add_address(const Link& link, std::string_view address, int prefix) {
  const auto parsed = parse_address(address);
  if (!parsed) return tl::unexpected(parsed.error());
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = static_cast<unsigned char>(prefix);
  header.ifa_index = static_cast<unsigned>(link.index);
  const in_addr broadcast{parsed->s_addr | htonl(prefix == 0 ? ~0U : (1U << (32 - prefix)) - 1)};
  NetlinkMessage request(RTM_NEWADDR, kCreate, header);
  request.number(IFA_LOCAL, *parsed).number(IFA_ADDRESS, *parsed).number(IFA_BROADCAST, broadcast);
  return exchange(request.finish(), fmt::format("give a link the address {}/{}", address, prefix)).map([](auto&&) {});
}

Result<void> Netlink::add_default_route(const Link& link, std::string_view gateway) {
  const auto parsed = parse_address(gateway);
  if (!parsed) return tl::unexpected(parsed.error());
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_BOOT;
  header.rtm_scope = RT_SCOPE_UNIVERSE;
  header.rtm_type = RTN_UNICAST;
  NetlinkMessage request(RTM_NEWROUTE, kCreate, header);
  request.number(RTA_GATEWAY, *parsed).number(RTA_OIF, link.index);
  return exchange(request.finish(), fmt::format("route through {}", gateway)).map([](auto&&) {});
}

}  // namespace espalier::machine
