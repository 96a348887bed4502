// A machine on disk: one folder that says all about it before its first namespace exists.
//
//   machine.json    MachineSpec
//   user-data.json  what its agent finds at its first start; mode 600, it holds the enrolment token
//   pid1.json       ProcessRecord of its first process; absent: never completed
//   build.lock      held (flock) by whoever builds or destroys it
//   machine.log     what the agent writes to its standard output and error
//   upper, work     its changes to the image (overlay); root: where the builder mounts, empty on the host
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"

namespace espalier::machine {

// A folder of the host that outlives the machine, and where it is mounted.
struct Volume {
  std::string source;
  std::string target;  // absolute; made in the machine when absent
};
BOOST_DESCRIBE_STRUCT(Volume, (), (source, target))

struct MachineSpec {
  MachineId id;
  std::string key;  // the launch that it came of
  ClusterId cluster;
  std::string group;
  SlotId slot;
  NodeType role = NodeType::Compute;
  std::string instance_type;
  std::string host_name;
  std::string address;  // IPv4, dotted
  int prefix = 16;
  std::string gateway;  // the bridge's own address
  std::string bridge;
  std::string link;   // the host's end of its cable, 15 characters at most
  std::string image;  // root file system, never written to
  std::vector<Volume> volumes;
  int gpus = 0;            // as many /dev/nvidia<i>
  int neuron_devices = 0;  // as many /dev/neuron<i>
  Position position;
  std::string zone;
  Time launched_at{};
};
BOOST_DESCRIBE_STRUCT(MachineSpec, (),
                      (id, key, cluster, group, slot, role, instance_type, host_name, address, prefix, gateway, bridge,
                       link, image, volumes, gpus, neuron_devices, position, zone, launched_at))

inline constexpr const char* kSpecFile = "machine.json";
inline constexpr const char* kUserDataFile = "user-data.json";
inline constexpr const char* kPid1File = "pid1.json";
inline constexpr const char* kLockFile = "build.lock";
inline constexpr const char* kLogFile = "machine.log";

// Where the machine itself finds its agent and its user data.
inline constexpr const char* kAgentInside = "/run/espalier/agent";
inline constexpr const char* kUserDataInside = "/run/espalier/user-data.json";

Result<MachineSpec> load_spec(const std::filesystem::path& folder);
// Whole or not at all for every reader, but not synced to disk: what it describes does not survive a power cut either.
Result<void> save_record(const std::filesystem::path& file, const json::value& value, unsigned mode = 0644);

}  // namespace espalier::machine
