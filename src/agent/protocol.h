// What the control plane and a machine's agent say to each other. JSON over HTTP/1.1, the agent dials out.
//
//   POST /enrol   Enrol      → Enrolled     once, with the one-time token of the machine's slot
//   POST /report  Report     → {}           at once when something happened; at least once
//   POST /next    NextCall   → NextAnswer   long poll: waits up to kLongPoll for commands
//   POST /renew   RenewCall  → Enrolled     another credential, good with the certificate that it names
//   POST /fetch   FetchCall  → FetchAnswer  the files of a Lifecycle; 404: ask again later
//   POST /hosts   {}         → HostsAnswer  the machines of its cluster, as they are now; 404: ask again later
//
// All but /enrol carry `Authorization: Bearer <credential>`. Commands have a sequence number that grows within one
// run of the control plane (`boot`); the agent acknowledges with the next call what it has taken. Delivery is at least
// once and in order: an agent ignores a command whose id it has carried out, and repeats its result. A control plane
// that is told another `boot` than its own answers at once: an agent that hears a new one reports everything again.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/check.h"
#include "model/names.h"
#include "model/scripts.h"

namespace espalier::agent {

inline constexpr std::chrono::seconds kLongPoll{25};
inline constexpr std::chrono::seconds kHeartbeat{10};

struct Enrol {
  std::string machine_id;
  std::string token;
  std::string version;
  std::string slurm;  // of the Slurm that is installed, as its programs print it: "slurm 24.11.5"; "": there is none
};
BOOST_DESCRIBE_STRUCT(Enrol, (), (machine_id, token, version, slurm))

struct Enrolled {
  std::string credential;
};
BOOST_DESCRIBE_STRUCT(Enrolled, (), (credential))

// The machine's next certificate. Asked for again with the same one the answer is the same; the credential in hand is
// good until the other one is first used.
struct RenewCall {
  std::string certificate;  // its fingerprint
};
BOOST_DESCRIBE_STRUCT(RenewCall, (), (certificate))

struct HostEntry {
  std::string name;
  std::string address;
  auto operator<=>(const HostEntry&) const = default;
};
BOOST_DESCRIBE_STRUCT(HostEntry, (), (name, address))

struct ConfigFile {
  std::string name;  // in /etc/slurm
  std::string text;
  bool keep = false;  // write only if there is none: slurm.conf stays the user's
};
BOOST_DESCRIBE_STRUCT(ConfigFile, (), (name, text, keep))

// A change of the marked block of /etc/hosts; what it names already is as it should be.
struct HostsDelta {
  std::vector<HostEntry> put;     // by name: added, or moved to this address
  std::vector<std::string> drop;  // names
};
BOOST_DESCRIBE_STRUCT(HostsDelta, (), (put, drop))

// When a lifecycle script runs: before Slurm's daemon is started, or as an extension after it.
enum class LifecycleHook { OnCreate, OnInitComplete };
BOOST_DESCRIBE_ENUM(LifecycleHook, OnCreate, OnInitComplete)

// A script of the user's, run as root until it has succeeded once on this machine; the mark is on the machine's disk.
// Its output goes to kLifecycleLog. `config` is written below /opt/ml/config before, and brought up to date by every
// Setup, also when the script has run.
struct Lifecycle {
  LifecycleHook hook = LifecycleHook::OnCreate;
  std::string digest;  // of the ScriptBundle, fetched by it; "": there is nothing to run
  std::string folder;  // where the files are put: /tmp/<bucket>/<prefix>
  std::string script;  // in that folder
  std::map<std::string, std::string> environment;
  Millis time_limit{30 * 60 * 1000};  // then its whole process group is killed
  std::vector<ConfigFile> config;     // resource_config.json, provisioning_parameters.json, …
};
BOOST_DESCRIBE_STRUCT(Lifecycle, (), (hook, digest, folder, script, environment, time_limit, config))
inline constexpr const char* kLifecycleLog = "/var/log/provision/provisioning.log";

// Makes the machine what it should be: hosts (fetched first), munge, files, daemons. Idempotent: what is so stays as it
// is, a running slurmd or slurmctld is never restarted by it. Done: a controller's slurmctld answers; a compute
// machine's slurmd is being looked after (it waits for the controller as long as it takes; see DaemonView and the
// node's state).
struct Setup {
  NodeType role = NodeType::Compute;
  std::string cluster_name;
  std::string node_name;
  std::string munge_key;  // base64; secret
  HostEntry controller;
  std::vector<ConfigFile> files;  // controller only: /etc/slurm
  std::vector<ConfigFile> extra;  // any machine: whole paths below kExtraFolders, before the daemons
  std::optional<Lifecycle> lifecycle;
};
BOOST_DESCRIBE_STRUCT(Setup, (), (role, cluster_name, node_name, munge_key, controller, files, extra, lifecycle))
// Where `extra` may write: the control plane, too, is not trusted with the whole machine by mistake.
inline constexpr const char* kExtraFolders[] = {"/etc/slurm", "/etc/nvidia-imex"};

enum class SlurmStepKind {
  WriteFiles,       // files; `remove` names those to delete. All beside, then renamed one after the other
  Reconfigure,      // scontrol reconfigure. When it fails, the files that this batch wrote are put back
  UpdateNodes,      // nodes, and what is set of state, reason, address, topology
  UpdatePartition,  // partition, nodes ("" → none), options: "State=UP …"
  CreatePartition,  // the same
  DeletePartition,  // partition
  ReadNodes,        // nodes ("" → all) → output: lines "name|state|address|reason"
  ReadTopology,     // → output of scontrol show <options>: topology, topoconf
  ReadPartitions,   // → output: lines "partition|hostlist"
  ReadJob,          // options: its id → output of scontrol -o show job, a line for each of its tasks
};
BOOST_DESCRIBE_ENUM(SlurmStepKind, WriteFiles, Reconfigure, UpdateNodes, UpdatePartition, CreatePartition,
                    DeletePartition, ReadNodes, ReadTopology, ReadPartitions, ReadJob)

struct SlurmStep {
  SlurmStepKind kind = SlurmStepKind::ReadNodes;
  std::vector<ConfigFile> files;
  std::vector<std::string> remove;
  std::string nodes;  // host list
  std::string state;
  std::string reason;
  std::string address;
  std::string topology;  // the node's whole list: tree:leaf7,block:b3; "-": it is in none
  std::string partition;
  std::string options;
};
BOOST_DESCRIBE_STRUCT(SlurmStep, (), (kind, files, remove, nodes, state, reason, address, topology, partition, options))

struct SlurmStepResult {
  bool ok = false;
  std::string output;  // standard output, or the cause when not ok
};
BOOST_DESCRIBE_STRUCT(SlurmStepResult, (), (ok, output))

// A deep health check. It may last: other commands are carried out meanwhile, and its result comes when it has ended.
struct CheckOrder {
  std::string check;  // its id: one that runs or has been answered is not begun anew
  std::vector<CheckKind> kinds;
  std::vector<HostEntry> peers;  // InstanceConnectivity: to be reached
  Millis time_limit{0};          // of all of it
};
BOOST_DESCRIBE_STRUCT(CheckOrder, (), (check, kinds, peers, time_limit))

// Exactly one member is set.
// `call_again`: slurmctld has forgotten this node, its slurmd is made to register again. Compute machines only.
struct Command {
  std::int64_t sequence = 0;
  std::string id;
  std::optional<Setup> setup;
  std::optional<bool> hosts;                     // fetch /hosts: it replaces the marked block of /etc/hosts
  std::optional<HostsDelta> hosts_delta;         // changes it; the whole block was fetched before
  std::optional<std::vector<ConfigFile>> extra;  // as in Setup
  std::optional<std::vector<SlurmStep>> slurm;   // controller only: in order, stops at the first failure
  std::optional<std::string> watch;              // controller only: host list to look at closely ("" → none)
  std::optional<bool> call_again;
  std::optional<CheckOrder> check;  // compute machines only
  std::optional<bool> renew;        // make another key and certificate, and get a credential for it
};
BOOST_DESCRIBE_STRUCT(Command, (),
                      (sequence, id, setup, hosts, hosts_delta, extra, slurm, watch, call_again, check, renew))

struct CommandResult {
  std::string id;
  bool ok = false;
  std::string error;                     // what failed, with the tail of the log where that says why
  std::vector<SlurmStepResult> steps;    // of `slurm`: one for each step carried out
  std::vector<CheckFinding> findings{};  // of `check`
};
BOOST_DESCRIBE_STRUCT(CommandResult, (), (id, ok, error, steps, findings))

// A node as slurmctld shows it (sinfo).
struct NodeView {
  std::string name;
  std::string state;    // as sinfo -o %T prints it, flags included: "idle", "down~", "allocated", "draining"
  std::string address;  // NodeAddr
  std::string reason;   // "" for none
  bool operator==(const NodeView&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeView, (), (name, state, address, reason))

struct DaemonView {
  std::string name;  // munged, slurmctld, slurmd
  bool running = false;
  std::string message;  // why it is not
  bool operator==(const DaemonView&) const = default;
};
BOOST_DESCRIBE_STRUCT(DaemonView, (), (name, running, message))

// The machine as its own agent sees it; nothing is judged here.
struct HealthView {
  std::string machine_id;  // as it was launched: who answers at a reused address says who it is
  Time booted_at{};        // by the machine's own clock
  int gpus = 0;            // device files; fewer when the driver answers and shows fewer
  int neuron_devices = 0;
  struct Disk {
    std::string path;
    std::int64_t free_bytes = 0;  // to unprivileged users
    std::int64_t total_bytes = 0;
  };
  std::vector<Disk> disks;  // of / and, on a controller, of what slurmctld keeps
};
BOOST_DESCRIBE_STRUCT(HealthView::Disk, (), (path, free_bytes, total_bytes))
BOOST_DESCRIBE_STRUCT(HealthView, (), (machine_id, booted_at, gpus, neuron_devices, disks))

// Any of its members may be absent. `boot` is the kernel-independent id of this run of the agent.
struct Report {
  std::string boot;
  std::vector<CommandResult> results;
  std::vector<NodeView> nodes;       // controller only: those that changed since the last report
  std::vector<DaemonView> daemons;   // all, whenever one changed, and in every heartbeat
  std::optional<HealthView> health;  // in every heartbeat, and at once when a device came or went
  Time sent_at{};                    // by the machine's clock: tells its skew. Absent: 1970
};
BOOST_DESCRIBE_STRUCT(Report, (), (boot, results, nodes, daemons, health, sent_at))

struct NextCall {
  std::string agent_boot;          // a new one: the agent started anew and knows nothing
  std::string control_plane_boot;  // as last heard; "" at first
  std::int64_t acknowledged = 0;   // the highest sequence taken
};
BOOST_DESCRIBE_STRUCT(NextCall, (), (agent_boot, control_plane_boot, acknowledged))

struct NextAnswer {
  std::string control_plane_boot;
  std::vector<Command> commands;
};
BOOST_DESCRIBE_STRUCT(NextAnswer, (), (control_plane_boot, commands))

struct FetchCall {
  std::string digest;
};
BOOST_DESCRIBE_STRUCT(FetchCall, (), (digest))

struct FetchAnswer {
  std::vector<ScriptFile> files;
};
BOOST_DESCRIBE_STRUCT(FetchAnswer, (), (files))

// Not part of Setup: for n machines that would be n lists of n, made and encoded each.
struct HostsAnswer {
  std::vector<HostEntry> hosts;  // sorted by name
};
BOOST_DESCRIBE_STRUCT(HostsAnswer, (), (hosts))

}  // namespace espalier::agent
