#include "reconcile/wish.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "model/instance_type.h"
#include "slurm/hostlist.h"

namespace espalier::reconcile {
namespace {

constexpr std::size_t kHostNameLength = 63;  // of one DNS label, and of Linux's host names

// A group as it would be once the wish is granted.
struct Entry {
  std::string name;
  NodeType type = NodeType::Compute;
  std::vector<std::string> partitions;
  int count = 0;
  const GroupWish* wish = nullptr;  // null: the change does not name it
  const Group* before = nullptr;    // null: it is new
};

struct Problems {
  std::vector<std::string> invalid;
  std::vector<std::string> limits;

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    invalid.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void limit(fmt::format_string<Args...> format, Args&&... args) {
    limits.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  Result<void> result() const {
    if (!invalid.empty()) return fail(ErrorCode::kInvalid, "{}", fmt::join(invalid, "; "));
    if (!limits.empty()) return fail(ErrorCode::kLimit, "{}", fmt::join(limits, "; "));
    return {};
  }
};

std::vector<std::string> types_of(const GroupWish& wish) {
  return wish.instance_types.empty() ? std::vector{wish.instance_type} : wish.instance_types;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// ---- one group -----------------------------------------------------------------------------------------------------

void check_instance_types(const GroupWish& wish, Problems& problems) {
  if (wish.instance_types.empty() == wish.instance_type.empty())
    return problems.add("InstanceGroup '{}': pass exactly one of InstanceType and InstanceRequirements", wish.name);
  std::set<std::string> seen;
  for (const std::string& type : types_of(wish)) {
    if (!find_instance_type(type))
      problems.add("InstanceGroup '{}': there is no instance type '{}': {}", wish.name, type, instance_type_hint(type));
    if (!seen.insert(type).second)
      problems.add("InstanceGroup '{}': InstanceRequirements lists {} twice", wish.name, type);
  }
  if (wish.type == NodeType::Controller && !wish.instance_types.empty())
    problems.add("InstanceGroup '{}': the Controller group has one InstanceType, no InstanceRequirements", wish.name);
}

void check_count(const Entry& entry, Problems& problems) {
  const int count = entry.count;
  if (count < 0) problems.add("InstanceGroup '{}': InstanceCount must not be negative", entry.name);
  if (!entry.before && count == 0)
    problems.add(
        "InstanceGroup '{}': a new InstanceGroup needs an InstanceCount of at least 1; it can be scaled to 0 later",
        entry.name);
  if (entry.type == NodeType::Controller && count != 1 && (count > 1 || entry.before))
    problems.add(
        "InstanceGroup '{}': the Controller group has an InstanceCount of 1, not {}: several controllers are not "
        "available with NodeProvisioningMode=Continuous",
        entry.name, count);
  if (entry.wish->min_count > count || entry.wish->min_count < 0)
    problems.add("InstanceGroup '{}': MinInstanceCount ({}) must be between 0 and InstanceCount ({})", entry.name,
                 entry.wish->min_count, count);
  const auto longest =
      fmt::format("{}-{}", entry.name, std::max({count, 1, entry.before ? entry.before->target_count : 0}));
  if (longest.size() > kHostNameLength)
    problems.add(
        "InstanceGroup '{}': its last node would be named '{}', which has {} characters; a host name has at most "
        "{}: choose a shorter InstanceGroupName",
        entry.name, longest, longest.size(), kHostNameLength);
}

void check_partitions(const Entry& entry, Problems& problems) {
  if (entry.type != NodeType::Compute) {
    if (!entry.partitions.empty())
      problems.add("InstanceGroup '{}': Partitions can only be assigned to Compute node types", entry.name);
    return;
  }
  if (entry.partitions.size() != 1)
    problems.add("InstanceGroup '{}': a Compute group needs exactly one name in SlurmConfig.PartitionNames, not {}",
                 entry.name, entry.partitions.size());
  for (const auto& partition : entry.partitions)
    if (lower(partition) == "default" || lower(partition) == "dev")
      problems.add(
          "InstanceGroup '{}': the partition name '{}' is taken: 'DEFAULT' is a keyword of Slurm's, 'dev' the "
          "built-in partition of all nodes; choose another",
          entry.name, partition);
}

void check_storage(const GroupWish& wish, Problems& problems) {
  std::map<std::string, int> kinds;
  const auto* configs = wish.spec.if_contains("InstanceStorageConfigs");
  if (!configs || !configs->is_array()) return;
  for (const auto& config : configs->get_array()) {
    if (!config.is_object()) continue;
    for (const auto& [kind, value] : config.get_object()) {
      if (value.is_null()) continue;
      if (++kinds[kind] == 2 && kind != "EbsVolumeConfig")
        problems.add("InstanceGroup '{}': InstanceStorageConfigs may have one {} only", wish.name, std::string(kind));
      if (kind != "EbsVolumeConfig" || !value.is_object()) continue;
      const auto& volume = value.get_object();
      const auto* root = volume.if_contains("RootVolume");
      const bool is_root = root && root->is_bool() && root->get_bool();
      if (is_root && (volume.contains("VolumeSizeInGB") || !volume.contains("VolumeKmsKeyId")))
        problems.add(
            "InstanceGroup '{}': EbsVolumeConfig with RootVolume needs VolumeKmsKeyId and takes no VolumeSizeInGB",
            wish.name);
      if (!is_root && !volume.contains("VolumeSizeInGB"))
        problems.add("InstanceGroup '{}': EbsVolumeConfig needs VolumeSizeInGB", wish.name);
    }
  }
}

// Members that an existing group keeps. What the change leaves out is not changed.
void check_immutable(const Entry& entry, Problems& problems) {
  std::vector<std::string> changed;
  const auto wished = types_of(*entry.wish);
  if (!wished.front().empty() && wished != types_of(*entry.before))
    changed.push_back(entry.before->instance_types.empty() ? "InstanceType" : "InstanceRequirements");
  for (const auto* member : {"ExecutionRole", "ThreadsPerCore", "OverrideVpcConfig"}) {
    const auto* asked = entry.wish->spec.if_contains(member);
    const auto* had = entry.before->spec.if_contains(member);
    if (asked && !asked->is_null() && (!had || *had != *asked)) changed.push_back(member);
  }
  // UpdateClusterSoftware does it in batches.
  if (!entry.wish->image.empty() && entry.wish->image != entry.before->image) changed.push_back("ImageId");
  if (entry.wish->has_slurm_config && entry.wish->type != entry.before->type) changed.push_back("SlurmConfig.NodeType");
  if (!changed.empty())
    problems.add("InstanceGroup '{}': Updating fields {} on an InstanceGroup not supported", entry.name,
                 fmt::join(changed, ", "));
}

void check_entry(const Entry& entry, const json::object& cluster_spec, Problems& problems) {
  if (!entry.wish) return;
  if (!entry.before && !entry.wish->has_slurm_config)
    return problems.add("InstanceGroup '{}' has no SlurmConfig: pass its NodeType (Controller, Login or Compute)",
                        entry.name);
  check_instance_types(*entry.wish, problems);
  if (entry.before) check_immutable(entry, problems);
  check_count(entry, problems);
  check_partitions(entry, problems);
  check_storage(*entry.wish, problems);
  if (entry.wish->spec.contains("OverrideVpcConfig") && !cluster_spec.contains("VpcConfig"))
    problems.add("InstanceGroup '{}': OverrideVpcConfig needs a VpcConfig of the cluster", entry.name);
}

// ---- all groups together -------------------------------------------------------------------------------------------

// Node names of different groups never collide: "<group>-<n>" splits at its last hyphen in one way only, so `p5-1` may
// stand beside `p5`. Host names have no case, though.
void check_names(const std::vector<Entry>& entries, Problems& problems) {
  std::map<std::string, std::string> groups;
  std::map<std::string, std::string> partitions;
  for (const auto& entry : entries) {
    const auto [other, is_new] = groups.emplace(lower(entry.name), entry.name);
    if (!is_new && other->second == entry.name)
      problems.add("InstanceGroup '{}' is listed twice", entry.name);
    else if (!is_new)
      problems.add("InstanceGroups '{}' and '{}' differ in case only: their nodes would have the same host names",
                   other->second, entry.name);
    for (const auto& partition : entry.partitions) {
      const auto& first = partitions.emplace(lower(partition), partition).first->second;
      if (first != partition)
        problems.add("the partition names '{}' and '{}' differ in case only; use one of them", first, partition);
    }
  }
}

void check_roles(const std::vector<Entry>& entries, const std::string& cluster, Problems& problems) {
  const auto number = [&](NodeType type) {
    return std::count_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.type == type; });
  };
  const auto controllers = number(NodeType::Controller);
  if (controllers == 0) problems.add("Cluster {} has no InstanceGroup with Controller node type.", cluster);
  if (controllers > 1)
    problems.add("{} Controller Groups found: SlurmConfig for InstanceGroups may only have one Controller Group.",
                 controllers);
  if (number(NodeType::Login) > 1)
    problems.add("{} Login Groups found: SlurmConfig for InstanceGroups may only have one Login Group.",
                 number(NodeType::Login));
}

// `now`: what the cluster has already. Who is over a quota may always ask for less.
void check_totals(const std::vector<Entry>& entries, int now, const Quotas& quotas, int elsewhere, Problems& problems) {
  std::int64_t total = 0;
  for (const auto& entry : entries) total += entry.count;
  if (total <= now) return;
  const auto over = [&](const char* what, std::int64_t sum, int bound) {
    if (bound > 0 && sum > bound)
      problems.limit("{} would be {}, the limit is {}: lower InstanceCount, or have the limit raised", what, sum,
                     bound);
  };
  over("the instances of a Slurm cluster", total, static_cast<int>(slurm::kNodeTable));
  over("the instances of this cluster", total, quotas.instances_per_cluster);
  over("the instances of this account", total + elsewhere, quotas.instances_per_account);
}

Entry entry_of(const GroupWish& wish) { return {wish.name, wish.type, wish.partitions, wish.count, &wish, nullptr}; }

Entry entry_of(const Group& group) {
  Entry entry{group.name, group.type, {}, group.target_count, nullptr, &group};
  if (!group.partition.empty()) entry.partitions.push_back(group.partition);
  return entry;
}

Entry changed(Entry entry, const GroupWish& wish) {
  entry.wish = &wish;
  entry.count = wish.count;
  if (wish.has_slurm_config) entry.partitions = wish.partitions;
  return entry;
}

void check_deletions(const ClusterChange& change, const ClusterState& state, Problems& problems) {
  for (const auto& name : change.groups_to_delete) {
    const auto found = state.groups.find(name);
    if (found == state.groups.end())
      problems.add("InstanceGroupsToDelete: the cluster has no InstanceGroup '{}'", name);
    else if (found->second.type == NodeType::Controller)  // so at least one group stays
      problems.add("InstanceGroupsToDelete: '{}' is the Controller group, which lives as long as its cluster", name);
    for (const auto& wish : change.groups)
      if (wish.name == name)
        problems.add("InstanceGroup '{}' is both in InstanceGroups and in InstanceGroupsToDelete", name);
  }
}

// The groups as they would be after the change.
std::vector<Entry> merged(const ClusterChange& change, const ClusterState& state) {
  const auto& gone = change.groups_to_delete;
  std::vector<Entry> entries;
  for (const auto& [name, group] : state.groups)
    if (!group.deleting && std::find(gone.begin(), gone.end(), name) == gone.end()) entries.push_back(entry_of(group));
  const std::size_t existing = entries.size();
  for (const auto& wish : change.groups) {
    const auto end = entries.begin() + static_cast<std::ptrdiff_t>(existing);
    const auto known = std::find_if(entries.begin(), end, [&](const Entry& e) { return e.name == wish.name; });
    if (known == end || known->wish)
      entries.push_back(entry_of(wish));  // new, or listed twice
    else
      *known = changed(std::move(*known), wish);
  }
  return entries;
}

}  // namespace

GroupWish wish_of(const Group& group) {
  GroupWish wish;
  wish.name = group.name;
  wish.type = group.type;
  wish.instance_types = group.instance_types;
  if (group.instance_types.empty()) wish.instance_type = group.instance_type;
  if (!group.partition.empty()) wish.partitions = {group.partition};
  wish.count = group.target_count;
  wish.min_count = group.min_count;
  return wish;
}

Result<void> check(const ClusterWish& wish, const Quotas& quotas, int instances_elsewhere) {
  Problems problems;
  std::vector<Entry> entries;
  for (const auto& group : wish.groups) entries.push_back(entry_of(group));
  for (const auto& entry : entries) check_entry(entry, wish.spec, problems);
  if (!wish.continuous)
    for (const auto& group : wish.groups)
      if (group.min_count > 0)
        problems.add("InstanceGroup '{}': MinInstanceCount needs NodeProvisioningMode=Continuous", group.name);
  check_roles(entries, wish.name, problems);
  check_names(entries, problems);
  check_totals(entries, 0, quotas, instances_elsewhere, problems);
  return problems.result();
}

Result<void> check(const ClusterChange& change, const ClusterState& state, const Quotas& quotas,
                   int instances_elsewhere) {
  const auto& cluster = state.cluster;
  if (cluster.status == ClusterStatus::Deleting)
    return fail(ErrorCode::kConflict, "Cluster {} is being deleted and takes no changes", cluster.name);
  for (const auto& wish : change.groups)
    if (const auto found = state.groups.find(wish.name); found != state.groups.end() && found->second.deleting)
      return fail(ErrorCode::kConflict, "InstanceGroup '{}' of Cluster {} is being deleted; try again when it is gone",
                  wish.name, cluster.name);
  Problems problems;
  check_deletions(change, state, problems);
  const auto entries = merged(change, state);
  int now = 0;
  for (const auto& [name, group] : state.groups) now += group.deleting ? 0 : group.target_count;
  for (const auto& entry : entries) check_entry(entry, cluster.spec, problems);
  if (problems.invalid.empty()) check_roles(entries, cluster.name, problems);
  check_names(entries, problems);
  check_totals(entries, now, quotas, instances_elsewhere, problems);
  return problems.result();
}

}  // namespace espalier::reconcile
