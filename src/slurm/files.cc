#include "slurm/files.h"

#include <fmt/format.h>

#include <algorithm>

#include "slurm/hostlist.h"

namespace espalier::slurm {
namespace {

constexpr std::string_view kHeader = "# Written by Espalier. Changes made here are overwritten.\n";
constexpr const char* kDefaultPartition = "dev";

// Every parameter with its reason. Measured on Slurm 24.11.5.
constexpr std::string_view kTemplate =
    R"(# Written once by Espalier for cluster {cluster}; yours from then on. Nodes, partitions and topology are in the
# included files, which are overwritten. Keep the lines marked (*): a growing cluster needs them.
ClusterName={cluster}
SlurmctldHost={host}({address})
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
MailProg=/bin/true

# (*) All other machines fetch these files from slurmctld when they start and at every reconfigure.
SlurmctldParameters=enable_configless
# (*) CPUs, memory and GPUs count as declared, whatever slurmd finds.
SlurmdParameters=config_overrides
# (*) A node that was set DOWN stays so when it registers, until Espalier has checked and placed its machine.
ReturnToService=1
# (*) Slots without a machine are powered-down cloud nodes. Without these three lines a reconfigure calls their
# addresses, waits seconds for each batch, and shows them as not responding. Nothing is ever suspended by Slurm.
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=99999999

# (*) When a waiting job starts.
#   batch_sched_delay=0    a batch job is tried at once, not after 3 s.
#   bf_interval=1          the backfill scheduler looks every second, not every 30: it alone starts a job that fits the
#                          nodes at hand behind larger ones that wait for nodes. Measured: a 6-node job behind 1,500
#                          waiting 8-node jobs starts within 1.1 s.
#   bf_max_time=30, bf_continue, bf_max_job_test=10000
#                          and it comes to the end of a long queue. bf_max_time would follow bf_interval, and a pass cut
#                          off after 1 s begins at the head again: jobs at the tail would never be looked at.
# The cost: a pass over 1,500 jobs that wait for absent nodes takes 3 ms; a job that is planned behind running ones
# takes 0.4 ms, more on larger clusters. With many thousands of those, raise bf_interval.
#   sched_interval=2       a job whose time to begin has come is found by this scheduler alone, not after up to 60 s.
SchedulerParameters=batch_sched_delay=0,bf_interval=1,bf_max_job_test=10000,bf_max_time=30,bf_continue,sched_interval=2
# (*) A job whose machine died begins again so long after it was requeued, not after 120 s. It is also how old the
# credential of a launch may be: for clocks that differ by more than a few seconds raise it.
AuthInfo=cred_expire=30

ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none

Include espalier-nodes.conf
Include espalier-partitions.conf
Include espalier-topology.conf
)";

std::string slurm_conf(const ClusterFiles& files) {
  return fmt::format(kTemplate, fmt::arg("cluster", files.cluster_name), fmt::arg("host", files.controller_name),
                     fmt::arg("address", files.controller_address));
}

// CPUs, memory and GPUs exactly as the type has them. A type of unknown size gets Slurm's smallest node.
std::string size_of(const InstanceType* type) {
  if (type == nullptr) return "";
  std::string out;
  if (type->vcpus) {
    const int threads = std::max(1, type->threads_per_core.value_or(1));
    const int cores = std::max(1, *type->vcpus / threads);
    out += fmt::format(" CPUs={} Sockets=1 CoresPerSocket={} ThreadsPerCore={}", cores * threads, cores, threads);
  }
  if (type->memory_mib) out += fmt::format(" RealMemory={}", *type->memory_mib);
  if (type->gpus > 0) out += fmt::format(" Gres=gpu:{}:{}", gres_type(*type), type->gpus);
  if (type->neuron_devices > 0) out += fmt::format(" Gres=neuron:{}", type->neuron_devices);
  return out;
}

std::string nodes_conf(const ClusterFiles& files) {
  // Here and not in slurm.conf, which is the user's: a type that a later group brings needs no change of theirs.
  std::string out = std::string(kHeader) + "GresTypes=gpu,neuron\n";
  for (const auto& line : files.nodes) {
    if (line.nodes.empty()) continue;
    // NodeAddr: without it slurmctld resolves every name, 10 s for each that has no machine yet.
    out += fmt::format("NodeName={} NodeAddr=0.0.0.0{} State=CLOUD\n", compress(line.nodes),
                       size_of(find_instance_type(line.instance_type)));
  }
  // Counted in the size of a block, invisible otherwise, and never scheduled.
  if (!files.padding.empty()) out += fmt::format("NodeName={} State=FUTURE\n", compress(files.padding));
  return out;
}

std::string devices(int count) { return count == 1 ? "0" : fmt::format("[0-{}]", count - 1); }

std::string gres_conf(const ClusterFiles& files) {
  std::string out(kHeader);
  for (const auto& line : files.nodes) {
    const auto* type = find_instance_type(line.instance_type);
    if (line.nodes.empty() || type == nullptr) continue;
    const auto nodes = compress(line.nodes);
    if (type->gpus > 0)
      out += fmt::format("NodeName={} Name=gpu Type={} File=/dev/nvidia{}\n", nodes, gres_type(*type),
                         devices(type->gpus));
    if (type->neuron_devices > 0)
      out += fmt::format("NodeName={} Name=neuron File=/dev/neuron{}\n", nodes, devices(type->neuron_devices));
  }
  return out;
}

std::string topology_conf(const ClusterFiles& files) {
  auto out = fmt::format("{}TopologyPlugin={}\n", kHeader, files.topology_plugin);
  // Ranks follow the fabric, not the names of the nodes.
  const auto usual = files.topology_plugin == "topology/tree" ? "SwitchAsNodeRank" : "";
  const auto param = files.topology_param.value_or(usual);
  return param.empty() ? out : fmt::format("{}TopologyParam={}\n", out, param);
}

}  // namespace

std::string cluster_name_for_slurm(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::map<std::string, std::string> partition_nodes(const ClusterFiles& files) {
  std::map<std::string, std::string> out;
  for (const auto& [name, nodes] : files.partitions) out[name] = compress(nodes);
  std::vector<std::string> all;
  for (const auto& line : files.nodes) all.insert(all.end(), line.nodes.begin(), line.nodes.end());
  out[kDefaultPartition] = compress(all);
  return out;
}

std::string render_partitions(const std::map<std::string, std::string>& partition_nodes,
                              const std::map<std::string, std::string>& topology) {
  std::string out(kHeader);
  for (const auto& [name, nodes] : partition_nodes) {
    const auto chosen = topology.find(name);
    // Never Nodes=ALL: new nodes join a partition only after they were set DOWN. "" is how 24.11 takes none.
    out += fmt::format("PartitionName={} Nodes={}{}{} State=UP\n", name, nodes.empty() ? "\"\"" : nodes,
                       chosen == topology.end() ? "" : " Topology=" + chosen->second,
                       name == kDefaultPartition ? " Default=YES" : "");
  }
  return out;
}

std::map<std::string, std::string> render(const ClusterFiles& files) {
  std::map<std::string, std::string> out = {
      {kSlurmConf, slurm_conf(files)},
      {kCgroupConf, std::string(kHeader) + "CgroupPlugin=disabled\n"},
      {kGresConf, gres_conf(files)},
      {kNodesConf, nodes_conf(files)},
      {kPartitionsConf, render_partitions(partition_nodes(files), files.partition_topology)},
      {kTopologyPluginConf, topology_conf(files)},
  };
  if (!files.topology_file.empty()) out[kTopologyConf] = files.topology_file;
  if (!files.topology_yaml.empty()) out[kTopologyYaml] = files.topology_yaml;
  return out;
}

}  // namespace espalier::slurm
