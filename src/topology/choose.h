// Which topology suits: for each partition and for the cluster, from the instance types that its groups may have. Pure.
//
// An UltraServer type wants blocks, a type that the fabric knows a tree, any other has no place in the network. Every
// type of a flexible group counts, and so does a group of count 0: scaling it up must not change the model under
// running jobs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/instance_type.h"
#include "slurm/version.h"

namespace espalier::topology {

enum class Model { flat, tree, block };
BOOST_DESCRIBE_ENUM(Model, flat, tree, block)

// none for a type that is not known.
TopologyClass class_of(std::string_view instance_type);

// One compute group.
struct GroupTypes {
  std::string name;
  std::string partition;
  std::vector<std::string> instance_types;  // all that it may get
};

// What a user wants for a cluster, instead of the rule. `off` is flat.
enum class Preference { automatic, tree, block, off };
BOOST_DESCRIBE_ENUM(Preference, automatic, tree, block, off)
// "auto", "tree", "block", "off"; kInvalid with the words that are possible.
Result<Preference> read_preference(std::string_view word);

struct PartitionChoice {
  std::optional<Model> model;  // absent: the cluster's default, without a word in slurm.conf
  std::string because;
  bool operator==(const PartitionChoice&) const = default;
};

struct Choice {
  Model model = Model::flat;  // the cluster's default
  std::string because;
  std::map<std::string, PartitionChoice> partitions;
  bool operator==(const Choice&) const = default;
};

Choice choose(const std::vector<GroupTypes>& groups, const slurm::Version& version,
              Preference preference = Preference::automatic);

}  // namespace espalier::topology
