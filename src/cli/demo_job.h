// The job that `espalier up` shows: one task a node, each saying where it is and what GPUs it has.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"

namespace espalier::cli {

struct Rank {
  int rank = 0;  // SLURM_PROCID
  std::string host;
  std::string leaf;  // from SLURM_TOPOLOGY_ADDR; empty when Slurm has no tree
  std::string gpus;  // CUDA_VISIBLE_DEVICES
  bool operator==(const Rank&) const = default;
};
BOOST_DESCRIBE_STRUCT(Rank, (), (rank, host, leaf, gpus))

// What a user types on the login machine.
std::string demo_line(int nodes, const std::string& partition);
// In order of rank. kInternal when a line is not understood or a rank is missing.
Result<std::vector<Rank>> parse_ranks(const std::string& output, int nodes);

// Runs it through `program ssh cluster login …`.
inline constexpr int kDemoNodes = 8;  // at most
Result<std::vector<Rank>> run_demo(Context& context, const std::string& program, const std::string& cluster,
                                   const std::string& login, int nodes);
void print_ranks(Context& context, const std::vector<Rank>& ranks);

}  // namespace espalier::cli
