// What every HyperPod instance type has: a table that is part of the program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "model/names.h"

namespace espalier {

struct InstanceType {
  std::optional<int> vcpus;  // absent: the size is not known here (g7, g7e)
  std::optional<int> threads_per_core;
  std::optional<std::int64_t> memory_mib;
  std::string arch;  // x86_64, arm64
  TopologyClass topology = TopologyClass::none;
  int network_layers = 0;  // network nodes from the root to the leaf; 0 where the type has no position
  bool efa = false;
  std::optional<std::string> gpu;  // "A100 80GB", "H100", …
  int gpus = 0;
  int neuron_devices = 0;  // Trainium, Inferentia: /dev/neuron<i>
};
BOOST_DESCRIBE_STRUCT(InstanceType, (),
                      (vcpus, threads_per_core, memory_mib, arch, topology, network_layers, efa, gpu, gpus,
                       neuron_devices))

// All 207 types by name ("ml.p5.48xlarge").
const std::map<std::string, InstanceType>& instance_types();
// nullptr when there is no such type.
const InstanceType* find_instance_type(std::string_view name);
// For a name that is none of them, what may have been meant: "did you mean 'ml.p5.48xlarge'?"
std::string instance_type_hint(std::string_view wrong);
// The name of its GPU as a Slurm GRES type: lower case, letters and digits ("a10080gb" for "A100 80GB"); "" without
// GPU.
std::string gres_type(const InstanceType& type);

}  // namespace espalier
