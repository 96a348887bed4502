// Where machines hang in the network, for providers that have no real one. Pure: the place follows from the model and
// from the places that are taken, so it is the same again after a restart.
//
// As a file (YAML), every member optional:
//
//   seed: 1          # names of network nodes and domains derive from it
//   leaf_size: 4     # machines on a leaf
//   spine_size: 4    # leaves below a spine
//   domain_size: 18  # machines in an NVLink domain (UltraServers); a domain hangs on a leaf of its own
//   scatter: true    # machines launched one after the other spread over the leaves of a spine
//   leaves:          # instead of a regular fabric: exactly these, in this order; machines beyond them have no position
//     - {path: [core, spine-1, leaf-1], machines: 4, domain: nvl-1, instance_type: ml.p5.48xlarge}
//
// `path` runs from the root to the leaf; `domain` and `instance_type` (default: all that have positions) may be left
// out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/instance_type.h"

namespace YAML {
class Node;
}

namespace espalier::sim {

struct Leaf {
  Position position;
  int machines = 0;
  std::string instance_type;  // empty: any
};

class FabricModel {
 public:
  // The built-in one: as many layers as the type has.
  FabricModel() = default;
  static Result<FabricModel> from_yaml(const std::string& text);
  static Result<FabricModel> from_map(const YAML::Node& map);

  // The place of the next machine of this type; `taken` holds those of all machines, of whatever type.
  // Empty for types without network layers, and when a model of listed leaves is full.
  [[nodiscard]] Position place(const std::string& instance_type, const std::vector<Position>& taken) const;
  // Those of the next `count` machines, one after the other; fewer when a model of listed leaves is full.
  [[nodiscard]] std::vector<Position> places(const std::string& instance_type, const std::vector<Position>& taken,
                                             int count) const;

 private:
  [[nodiscard]] std::vector<Position> places_in_list(const std::string& instance_type,
                                                     const std::vector<Position>& taken, std::size_t count) const;
  [[nodiscard]] Position regular_leaf(const std::string& instance_type, const InstanceType& type, int leaf) const;
  [[nodiscard]] std::string name(std::string_view prefix, std::string_view what, int index) const;
  // Order in which the seats of one spine are filled: leaf of the n-th machine.
  [[nodiscard]] std::vector<int> seat_order(int spine, int seats_per_leaf) const;

  std::uint64_t seed_ = 1;
  int leaf_size_ = 4;
  int spine_size_ = 4;
  int domain_size_ = 18;
  bool scatter_ = true;
  std::vector<Leaf> leaves_;
};

}  // namespace espalier::sim
