#include "cli/demo_job.h"

#include <algorithm>
#include <sstream>

#include "base/process.h"
#include "cli/group_option.h"

namespace espalier::cli {

namespace {

constexpr const char* kPartition = "gpu";
constexpr Millis kJobTimeout{120'000};
constexpr const char* kTask = "echo \"$SLURM_PROCID|$(hostname)|$SLURM_TOPOLOGY_ADDR|$CUDA_VISIBLE_DEVICES\"";

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, '|');) out.push_back(part);
  if (line.ends_with('|')) out.emplace_back();
  return out;
}

// "fabric.nn-1.nn-4.worker-1" → "nn-4".
std::string leaf_of(const std::string& address) {
  const auto node = address.rfind('.');
  if (node == std::string::npos || node == 0) return "";
  const auto leaf = address.rfind('.', node - 1);
  return address.substr(leaf == std::string::npos ? 0 : leaf + 1, node - (leaf == std::string::npos ? 0 : leaf + 1));
}

Result<Rank> parse_rank(const std::string& line) {
  const auto parts = split(line);
  const auto rank = parts.size() == 4 ? parse_count("rank", parts[0]) : fail(ErrorCode::kInternal, "");
  if (!rank) return fail(ErrorCode::kInternal, "The job wrote what was not expected: {}", line);
  return Rank{*rank, parts[1], leaf_of(parts[2]), parts[3]};
}

}  // namespace

std::string demo_line(int nodes, const std::string& partition) {
  return fmt::format("srun -N{} --ntasks-per-node=1 --gres=gpu:8 -p {} bash -c '{}'", nodes, partition, kTask);
}

Result<std::vector<Rank>> parse_ranks(const std::string& output, int nodes) {
  std::vector<Rank> ranks;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    auto rank = parse_rank(line);
    if (!rank) return tl::unexpected(rank.error());
    ranks.push_back(std::move(*rank));
  }
  std::sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  if (ranks.size() != static_cast<std::size_t>(nodes))
    return fail(ErrorCode::kInternal, "The job was to run on {} nodes, {} answered:\n{}", nodes, ranks.size(), output);
  return ranks;
}

Result<std::vector<Rank>> run_demo(Context& context, const std::string& program, const std::string& cluster,
                                   const std::string& login, int nodes) {
  const std::string line = demo_line(nodes, kPartition);
  const std::vector<std::string> argv{
      program, "ssh", "--endpoint", context.service.endpoint(), "--region", context.service.region(),
      cluster, login, line};
  RunOptions options;
  options.timeout = kJobTimeout;
  if (!context.json) print(context, fmt::format("On {}, as ubuntu: {}", login, line));
  const auto result = espalier::run(argv, options);
  if (!result) return tl::unexpected(result.error());
  if (result->status != 0)
    return fail(ErrorCode::kInternal, "The job failed with exit code {} on {}: {}", result->status, login, result->err);
  return parse_ranks(result->out, nodes);
}

void print_ranks(Context& context, const std::vector<Rank>& ranks) {
  Table table({"SLURM_PROCID", "HOST", "LEAF", "CUDA_VISIBLE_DEVICES"});
  for (const auto& rank : ranks) table.add({std::to_string(rank.rank), rank.host, rank.leaf, rank.gpus});
  print(context, table);
}

}  // namespace espalier::cli
