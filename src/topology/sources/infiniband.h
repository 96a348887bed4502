// An InfiniBand subnet as ibnetdiscover prints it, and the tree in it. Pure.
//
// A subnet is a graph of cables, Slurm wants a tree. Hosts have several HCAs; in rail-optimised fabrics each is on
// another leaf, so what all hosts of a rail group share is not a switch but a set of leaves: that set is the group's
// leaf. Likewise all spines that a set of leaves has in common are one switch of the tree. Sets are formed by majority:
// two leaves belong together when they share half of the hosts of the smaller one. So a missing line, a broken cable or
// one plugged into the wrong switch does not change the tree.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/sources/source.h"

namespace espalier::topology {

enum class IbKind { host_adapter, fabric_switch, other };

struct IbDevice {
  std::string guid;  // 16 hex digits
  IbKind kind = IbKind::other;
  std::string description;
  std::string system;                // GUID of the card or chassis that it is part of
  std::map<std::size_t, int> links;  // other device → cables
};

struct IbSubnet {
  std::vector<IbDevice> devices;
  Reasons left_out;
};

inline constexpr std::size_t kMaxDevices = 1U << 20;

// Every cable is printed at both its ends; either is enough.
IbSubnet parse_ibnetdiscover(std::string_view text);

// "a08-dgx-04 mlx5_5" → "a08-dgx-04"; "" when the description names no host, as "MT4129 ConnectX7 …".
std::string host_in(std::string_view description);
// "MF0;A09-LEAF-04:MQM9701/U1" → "A09-LEAF-04"; "" for a vendor's default.
std::string switch_in(std::string_view description);
// Collectives engines in switches, which look like HCAs.
bool is_aggregation_node(std::string_view description);

// hosts: as for read_ibnetdiscover.
Located locate(const IbSubnet& subnet, const std::map<std::string, std::string>& hosts);

}  // namespace espalier::topology
