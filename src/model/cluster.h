// The nouns: a cluster, its groups, their slots, the machines that fill them, and what happened.
//
// These structs are what the store keeps (as JSON), what reconcile works on and what the API shows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "model/check.h"
#include "model/names.h"

namespace espalier {

using ClusterId = Id<struct ClusterIdTag>;  // 12 of [a-z0-9], the last part of the ARN
using SlotId = Id<struct SlotIdTag>;        // UUID, the API's NodeLogicalId
using MachineId = Id<struct MachineIdTag>;  // i- and 17 hex digits, the API's InstanceId

// Where a machine hangs in the fabric. Empty network_nodes: not known, or the type has none.
struct Position {
  std::vector<std::string> network_nodes;  // root first; the last is the switch that the machine hangs on
  std::string domain;                      // NVLink domain (UltraServer); empty: none or not known
  bool operator==(const Position&) const = default;
};
BOOST_DESCRIBE_STRUCT(Position, (), (network_nodes, domain))

// What a provider launched for a slot. A replacement gives the slot another machine.
struct Machine {
  MachineId id;
  std::string address;  // IPv4, dotted
  Position position;
  std::string zone;  // availability zone, "us-west-2a"; may be empty
  Time launched_at{};
  std::string image;  // release of its software, "ami-…"; empty: the provider has none
};
BOOST_DESCRIBE_STRUCT(Machine, (), (id, address, position, zone, launched_at, image))

// A fact about a slot, with its reason and since when.
struct Condition {
  bool holds = false;
  std::string reason;
  Time since{};
};
BOOST_DESCRIBE_STRUCT(Condition, (), (holds, reason, since))

// The last repair of a slot's machine: stored before it is begun, kept after it, for the next one.
struct Repair {
  RepairKind kind = RepairKind::Reboot;
  bool begun = false;  // the machine was rebooted or taken away
  bool done = false;   // the slot has been Ready since
  bool own = false;    // nobody asked for it
  std::string why;
  Time at{};
};
BOOST_DESCRIBE_STRUCT(Repair, (), (kind, begun, done, own, why, at))

// The place of one node in a group. It outlives machines.
struct Slot {
  SlotId id;
  std::string group;
  int number = 0;             // 1 and up; the lowest free one
  std::string node_name;      // "<group>-<number>", Slurm's NodeName and the host name
  std::string instance_type;  // of its machine, or of the launch in hand; the group's first until then
  SlotState state = SlotState::Wanted;
  Time since{};  // when it entered the state
  Time created_at{};
  bool wanted = true;  // false: on its way out, whatever its state

  // The launch in hand: stored before the provider is asked, the same until a machine came of it.
  std::string image;       // what it asks for; empty: the newest
  std::string launch_key;  // idempotency key for the provider; empty: none in hand
  std::string token;       // the machine's agent enrols with it; secret
  std::string credential;  // the agent's after enrolment; secret
  Time credential_at{};    // when it was given
  std::string renewed;     // the one that comes after it, from its first use on; secret
  std::optional<Machine> machine;
  std::string slurm;  // the machine's, "24.11.5", as its agent said when it enrolled; "": not said
  std::optional<Repair> repair;
  std::optional<DeepCheck> check;
  std::string address;  // the controller's: a replacement gets the same; empty: any

  int attempts = 0;  // launches that failed since the last success
  std::optional<Time> next_try;
  FailureClass failure = FailureClass::None;
  std::string failure_message;                  // of the last failed try; kept until a success
  std::map<std::string, Condition> conditions;  // by ConditionType's name
};
BOOST_DESCRIBE_STRUCT(Slot, (),
                      (id, group, number, node_name, instance_type, state, since, created_at, wanted, image, launch_key,
                       token, credential, credential_at, renewed, machine, slurm, repair, check, address, attempts,
                       next_try, failure, failure_message, conditions))

// A group that waits for its MinInstanceCount: when the wait is over without it, its counts go back to these.
struct Minimum {
  Time until{};
  int target_before = 0;
  int min_before = 0;
  bool operator==(const Minimum&) const = default;
};
BOOST_DESCRIBE_STRUCT(Minimum, (), (until, target_before, min_before))

// UpdateClusterSoftware of a group, batch by batch; kept when it has ended, for its status.
struct SoftwareUpdate {
  SoftwareUpdateStatus status = SoftwareUpdateStatus::Pending;
  std::string image;         // for new machines
  std::string image_before;  // to go back to
  int batch_size = 1;        // machines at a time
  int rollback_batch_size = 1;
  Millis wait{0};               // between batches
  std::vector<SlotId> batch;    // being replaced now
  std::optional<Time> next_at;  // of the next batch
};
BOOST_DESCRIBE_STRUCT(SoftwareUpdate, (),
                      (status, image, image_before, batch_size, rollback_batch_size, wait, batch, next_at))

struct Group {
  std::string name;
  NodeType type = NodeType::Compute;
  std::string instance_type;                // the first of those that it may have
  std::vector<std::string> instance_types;  // of a flexible group, by priority; empty: only that one
  std::string partition;                    // Compute groups only
  int target_count = 0;
  int min_count = 0;
  std::optional<Minimum> minimum;
  std::string image;  // of new machines; empty: the provider's newest
  std::optional<SoftwareUpdate> update;
  GroupStatus status = GroupStatus::Creating;
  bool created = false;  // it has been in service
  bool deleting = false;
  bool scaling = false;  // current differs from target: ActiveOperations.Scaling
  Time created_at{};
  // Why it does not get on, until all that is wished for is Ready.
  FailureClass failure = FailureClass::None;
  std::string failure_message;
  int boot_failures = 0;          // machines that never became Ready since the last one that did
  int canaries = 0;               // tries since it was slowed down to one machine at a time
  std::optional<Time> canary_at;  // when the next of them is due; absent: it is not slowed down
  json::object spec;              // ClusterInstanceGroupSpecification as asked for, echoed by Describe
};
BOOST_DESCRIBE_STRUCT(Group, (),
                      (name, type, instance_type, instance_types, partition, target_count, min_count, minimum, image,
                       update, status, created, deleting, scaling, created_at, failure, failure_message, boot_failures,
                       canaries, canary_at, spec))

// What BatchAddClusterNodes answered to a ClientToken: the same call again gets the same slots.
struct AddedSlot {
  SlotId slot;
  std::string group;
};
BOOST_DESCRIBE_STRUCT(AddedSlot, (), (slot, group))
struct AddedBefore {
  Time at{};
  std::string request;
  std::vector<AddedSlot> slots;
};
BOOST_DESCRIBE_STRUCT(AddedBefore, (), (at, request, slots))

// A creation or update of a cluster that is provisioned all or nothing: until everything is there, or all goes back.
struct GroupCounts {
  std::string group;
  int target_count = 0;
  int min_count = 0;
};
BOOST_DESCRIBE_STRUCT(GroupCounts, (), (group, target_count, min_count))
struct WholeChange {
  Time since{};
  bool creation = false;
  bool rolling_back = false;
  std::vector<GroupCounts> before;
};
BOOST_DESCRIBE_STRUCT(WholeChange, (), (since, creation, rolling_back, before))

struct Cluster {
  ClusterId id;
  std::string name;
  std::string region;
  std::string account;  // 12 digits
  ClusterStatus status = ClusterStatus::Creating;
  Time created_at{};
  std::string failure_message;
  bool continuous = true;             // NodeProvisioningMode; false: all or nothing
  std::optional<WholeChange> change;  // under way; only then
  std::string node_recovery = "Automatic";
  std::string munge_key;                     // base64; secret
  std::map<std::string, AddedBefore> added;  // by ClientToken
  std::int64_t last_event = 0;               // sequence of the newest event
  std::string topology = "auto";             // what a user wants: auto, tree, block, off
  json::object spec;  // the request without its groups: VpcConfig, Orchestrator, Tags, NodeProvisioningMode
};
BOOST_DESCRIBE_STRUCT(Cluster, (),
                      (id, name, region, account, status, created_at, failure_message, continuous, change,
                       node_recovery, munge_key, added, last_event, topology, spec))

// By priority.
std::vector<std::string> types_of(const Group& group);

// arn:aws:sagemaker:<region>:<account>:cluster/<id>
std::string arn_of(const Cluster& cluster);

// One step that users can see. `sequence` grows by one within a cluster.
struct Event {
  std::int64_t sequence = 0;
  std::string id;  // lower-case UUID
  Time time{};
  ResourceType resource = ResourceType::Cluster;
  EventLevel level = EventLevel::Info;
  std::string group;   // may be empty
  MachineId instance;  // may be empty
  SlotId slot;         // may be empty
  std::string description;
  json::object metadata;  // EventDetails.EventMetadata, as the wire has it
};
BOOST_DESCRIBE_STRUCT(Event, (), (sequence, id, time, resource, level, group, instance, slot, description, metadata))

// A block of Slurm's topology that was planned. Its name and its place in the order are for ever, as long as a later
// one is in use.
struct KnownBlock {
  std::string name;
  std::string group;
  int number = 0;      // within the group: see topology/blocks.h
  std::string domain;  // the NVLink domain that is bound to it; "": none yet
  bool operator==(const KnownBlock&) const = default;
};
BOOST_DESCRIBE_STRUCT(KnownBlock, (), (name, group, number, domain))

// What slurmctld was last told and was seen to agree with. See slurm/files.h for the names of the files.
struct SlurmApplied {
  std::map<std::string, std::string> files;            // name → text, as written on the controller
  std::map<std::string, std::string> partition_nodes;  // partition → host list
  std::int64_t revision = 0;                           // counts applications
  Time since{};                                        // when slurmctld agreed with it
  std::string failure;                                 // why the last application failed; empty: it did not
  bool pending = false;            // others were sent and not confirmed: what slurmctld has now must be read
  std::string version;             // of Slurm, as the controller's agent said; "": not yet
  std::vector<KnownBlock> blocks;  // in Slurm's order: what the next plan must know of this one
  bool live = false;               // nodes were moved for it; else slurmctld was reconfigured
  bool operator==(const SlurmApplied&) const = default;
};
BOOST_DESCRIBE_STRUCT(SlurmApplied, (),
                      (files, partition_nodes, revision, since, failure, pending, version, blocks, live))

// All of one cluster.
struct ClusterState {
  std::int64_t revision = 0;  // of the store: grows by one with every commit
  Cluster cluster;
  std::map<std::string, Group> groups;
  std::map<SlotId, Slot> slots;
  SlurmApplied slurm;
};

}  // namespace espalier
