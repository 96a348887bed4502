// The Slurm of this host, asked with scontrol: for `espalier topology` on clusters that Espalier did not create.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/process.h"
#include "slurm/version.h"
#include "topology/shown.h"

namespace espalier::cli {

using RunProgram = std::function<Result<RunResult>(const std::vector<std::string>&)>;

struct SlurmFacts {
  slurm::Version version;
  std::filesystem::path folder;    // of slurm.conf
  std::string plugin;              // TopologyPlugin
  std::vector<std::string> nodes;  // all, natural order
};

class LocalSlurm {
 public:
  explicit LocalSlurm(RunProgram run) : run_(std::move(run)) {}

  Result<SlurmFacts> facts();
  Result<void> reconfigure();  // and asks whether slurmctld answers: a refused file may have ended it
  // What slurmctld has: `scontrol show topoconf` where there can be several topologies, else `show topology`.
  Result<std::vector<topology::Shown>> shown(const slurm::Version& version);
  // A node's whole place, 25.05 and later.
  Result<void> place(const std::string& hostlist, const std::string& topology);

 private:
  Result<std::string> scontrol(std::vector<std::string> words);
  RunProgram run_;
};

}  // namespace espalier::cli
