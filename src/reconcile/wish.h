// What a user asks for, parsed from the wire and checked for sense: the input of create and update.
//
// api/ fills these structs from a request that has passed the shapes; the checks here are those that the shapes cannot
// express (spec: "SlurmConfig validation", "Scaling rules"). Pure. Every message says what to change.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"

namespace espalier::reconcile {

struct GroupWish {
  std::string name;
  NodeType type = NodeType::Compute;
  bool has_slurm_config = false;  // false on an update: the group keeps its own
  std::string instance_type;
  std::vector<std::string> instance_types;  // InstanceRequirements.InstanceTypes, by priority; then no instance_type
  std::vector<std::string> partitions;      // as sent: Compute needs exactly one, others none
  int count = 0;
  int min_count = 0;
  std::string image;  // of its machines; empty: the provider's newest
  json::object spec;  // ClusterInstanceGroupSpecification as sent
};

struct ClusterWish {
  std::string name;
  std::string region;
  std::string account;
  std::string node_recovery = "Automatic";
  bool continuous = true;  // false: all or nothing
  std::vector<GroupWish> groups;
  json::object spec;  // the request without InstanceGroups
};

struct ClusterChange {
  std::vector<GroupWish> groups;
  std::vector<std::string> groups_to_delete;
  std::optional<std::string> node_recovery;
  bool continuous = false;                    // true: provisioned so from now on
  std::optional<std::string> topology{};      // auto, tree, block, off
  std::map<std::string, std::string> tags{};  // to set, by key
  std::vector<std::string> tags_to_delete{};  // those that are not there do no harm
};

// Settings that bound what may be asked for. 0: no bound of ours (Slurm's own and the shapes' stay).
struct Quotas {
  int instances_per_cluster = 0;
  int instances_per_account = 0;
};

// The wish that leaves the group as it is.
GroupWish wish_of(const Group& group);

// All problems of a wish at once, joined by "; ". kInvalid, or kLimit for a quota.
// `instances_elsewhere`: of the account's other clusters.
Result<void> check(const ClusterWish& wish, const Quotas& quotas, int instances_elsewhere);
// The same for a change of a cluster that exists. kConflict while it is being deleted.
Result<void> check(const ClusterChange& change, const ClusterState& state, const Quotas& quotas,
                   int instances_elsewhere);

}  // namespace espalier::reconcile
