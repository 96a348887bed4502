// What the CLI reads of the control plane's answers. Members are spelt as on the wire; what is not shown is not here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace espalier::cli::wire {

struct SlurmConfig {
  std::string NodeType;
  std::vector<std::string> PartitionNames;
};
BOOST_DESCRIBE_STRUCT(SlurmConfig, (), (NodeType, PartitionNames))

struct Group {
  std::string InstanceGroupName;
  std::string InstanceType;
  std::string Status;
  int CurrentCount = 0;
  int TargetCount = 0;
  int MinCount = 0;
  wire::SlurmConfig SlurmConfig;
};
BOOST_DESCRIBE_STRUCT(Group, (),
                      (InstanceGroupName, InstanceType, Status, CurrentCount, TargetCount, MinCount, SlurmConfig))

// DescribeCluster, and a summary of ListClusters (no groups there).
struct Cluster {
  std::string ClusterArn;
  std::string ClusterName;
  std::string ClusterStatus;
  double CreationTime = 0;
  std::string FailureMessage;
  std::string NodeRecovery;
  std::vector<Group> InstanceGroups;
};
BOOST_DESCRIBE_STRUCT(Cluster, (),
                      (ClusterArn, ClusterName, ClusterStatus, CreationTime, FailureMessage, NodeRecovery,
                       InstanceGroups))

struct ClusterList {
  std::vector<Cluster> ClusterSummaries;
};
BOOST_DESCRIBE_STRUCT(ClusterList, (), (ClusterSummaries))

struct Node {
  std::string NodeName;
  std::string InstanceGroupName;
  std::string InstanceType;
  std::string NodeType;
  std::string State;
  double Since = 0;
  std::string InstanceId;
  std::string Address;
  std::string Leaf;
  std::string Domain;
  std::string SlurmState;
  int Attempts = 0;
  double NextTry = 0;
  std::string Message;
};
BOOST_DESCRIBE_STRUCT(Node, (),
                      (NodeName, InstanceGroupName, InstanceType, NodeType, State, Since, InstanceId, Address, Leaf,
                       Domain, SlurmState, Attempts, NextTry, Message))

struct NodeList {
  std::vector<Node> Nodes;
};
BOOST_DESCRIBE_STRUCT(NodeList, (), (Nodes))

struct NodeCondition {
  std::string Type;
  bool Holds = false;
  std::string Reason;
  double Since = 0;
};
BOOST_DESCRIBE_STRUCT(NodeCondition, (), (Type, Holds, Reason, Since))

struct NodeEvent {
  double EventTime = 0;
  std::string EventLevel;
  std::string Description;
  std::string FailureMessage;
};
BOOST_DESCRIBE_STRUCT(NodeEvent, (), (EventTime, EventLevel, Description, FailureMessage))

struct Daemon {
  std::string Name;
  bool Running = false;
  std::string Message;
};
BOOST_DESCRIBE_STRUCT(Daemon, (), (Name, Running, Message))

struct Disk {
  std::string Path;
  double FreeBytes = 0;
  double TotalBytes = 0;
};
BOOST_DESCRIBE_STRUCT(Disk, (), (Path, FreeBytes, TotalBytes))

struct NodeHealth {
  int Gpus = 0;
  int NeuronDevices = 0;
  double ClockAheadMillis = 0;
  std::vector<Daemon> Daemons;
  std::vector<Disk> Disks;
};
BOOST_DESCRIBE_STRUCT(NodeHealth, (), (Gpus, NeuronDevices, ClockAheadMillis, Daemons, Disks))

struct NodeExplanation {
  wire::Node Node;
  std::string Because;
  std::string Next;
  double NextAt = 0;
  std::vector<std::string> Places;
  std::vector<NodeCondition> Conditions;
  std::optional<NodeHealth> Health;
  std::vector<NodeEvent> History;
};
BOOST_DESCRIBE_STRUCT(NodeExplanation, (), (Node, Because, Next, NextAt, Places, Conditions, Health, History))

struct JobExplanation {
  std::string JobId;
  std::string State;
  std::string Reason;
  std::string Partition;
  std::int64_t NodeCount = 0;
  std::vector<std::string> Because;
  std::vector<std::string> WouldRun;
};
BOOST_DESCRIBE_STRUCT(JobExplanation, (), (JobId, State, Reason, Partition, NodeCount, Because, WouldRun))

struct Event {
  std::int64_t Sequence = 0;
  double EventTime = 0;
  std::string EventLevel;
  std::string InstanceGroupName;
  std::string InstanceId;
  std::string Description;
  std::string FailureMessage;
};
BOOST_DESCRIBE_STRUCT(Event, (),
                      (Sequence, EventTime, EventLevel, InstanceGroupName, InstanceId, Description, FailureMessage))

struct EventList {
  std::vector<Event> Events;
  std::int64_t LastSequence = 0;
};
BOOST_DESCRIBE_STRUCT(EventList, (), (Events, LastSequence))

struct PartitionTopology {
  std::string Name;
  std::string Model;
  std::string Because;
};
BOOST_DESCRIBE_STRUCT(PartitionTopology, (), (Name, Model, Because))

struct Block {
  std::string Name;
  std::string Domain;
  std::vector<std::string> Nodes;
};
BOOST_DESCRIBE_STRUCT(Block, (), (Name, Domain, Nodes))

struct Topology {
  std::string Wish;
  std::string Model;
  std::string Because;
  std::vector<PartitionTopology> Partitions;
  std::vector<std::string> Notes;
  std::string SlurmVersion;
  bool True = false;
  std::vector<std::string> Pending;
  double PendingSince = 0;
  std::int64_t Revision = 0;
  double Since = 0;
  std::string Applied;
  std::string Failure;
  std::vector<Block> Blocks;
  std::string File;
  std::string Drawing;
};
BOOST_DESCRIBE_STRUCT(Topology, (),
                      (Wish, Model, Because, Partitions, Notes, SlurmVersion, True, Pending, PendingSince, Revision,
                       Since, Applied, Failure, Blocks, File, Drawing))

struct Service {
  std::string Version;
  std::string Provider;
  std::string StateFolder;
  std::string Image;
  std::string AgentEndpoint;
  std::int64_t ProcessId = 0;
};
BOOST_DESCRIBE_STRUCT(Service, (), (Version, Provider, StateFolder, Image, AgentEndpoint, ProcessId))

struct Access {
  std::string InstanceId;
  std::string NodeName;
  std::string MachineFolder;
};
BOOST_DESCRIBE_STRUCT(Access, (), (InstanceId, NodeName, MachineFolder))

struct AccessKey {
  std::string AccessKeyId;
  std::string Name;
  std::string Role;
  std::vector<std::string> Clusters;
  double CreationTime = 0;
  double ExpirationTime = 0;
};
BOOST_DESCRIBE_STRUCT(AccessKey, (), (AccessKeyId, Name, Role, Clusters, CreationTime, ExpirationTime))

struct NewAccessKey {
  wire::AccessKey AccessKey;
  std::string SecretAccessKey;
  std::string SessionToken;
};
BOOST_DESCRIBE_STRUCT(NewAccessKey, (), (AccessKey, SecretAccessKey, SessionToken))

struct RevokedAccessKey {
  wire::AccessKey AccessKey;
  bool Open = false;
};
BOOST_DESCRIBE_STRUCT(RevokedAccessKey, (), (AccessKey, Open))

struct AccessKeyList {
  std::vector<AccessKey> AccessKeys;
  bool Open = false;
};
BOOST_DESCRIBE_STRUCT(AccessKeyList, (), (AccessKeys, Open))

struct AuditRecord {
  std::string Time;
  std::string RequestId;
  std::string AccessKeyId;
  std::string Name;
  bool Verified = false;
  std::string SourceAddress;
  std::string Operation;
  std::string Cluster;
  int Status = 0;
  std::string ErrorCode;
  std::int64_t SuppressedRefusals = 0;
};
BOOST_DESCRIBE_STRUCT(AuditRecord, (),
                      (Time, RequestId, AccessKeyId, Name, Verified, SourceAddress, Operation, Cluster, Status,
                       ErrorCode, SuppressedRefusals))

struct AuditPage {
  std::vector<AuditRecord> Records;
  std::string NextToken;
};
BOOST_DESCRIBE_STRUCT(AuditPage, (), (Records, NextToken))

struct Pool {
  std::optional<int> Machines;
  int InUse = 0;
  std::int64_t LaunchTimeMillis = 0;
  double FailureRate = 0;
  std::string FailureClass;
};
BOOST_DESCRIBE_STRUCT(Pool, (), (Machines, InUse, LaunchTimeMillis, FailureRate, FailureClass))

struct PoolList {
  std::map<std::string, Pool> Pools;
};
BOOST_DESCRIBE_STRUCT(PoolList, (), (Pools))

}  // namespace espalier::cli::wire
