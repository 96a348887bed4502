// How good a placement of jobs is, measured on where the machines truly hang. Pure.
//
// A hop is a cable: two nodes of a leaf are 2 hops apart, and 2 more for every level up to their common switch. Nodes
// without a common switch are as far apart as the deepest path allows, plus one level.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "topology/sources/source.h"

namespace espalier::topology {

struct PlacedJob {
  std::string id;
  std::vector<std::string> nodes;  // in the order of the ranks
};

struct JobScore {
  std::string id;
  std::size_t nodes = 0;
  std::size_t leaves = 0;          // that it is spread over
  std::size_t least_leaves = 0;    // that would do for so many nodes, were all of them idle
  std::size_t domains = 0;         // NVLink domains; nodes without one count as one each
  double hops = 0;                 // mean over all pairs of its nodes
  std::size_t leaf_crossings = 0;  // neighbouring ranks on different leaves; leaves - 1 at best
};

struct Segments {
  std::size_t size = 0;
  std::size_t free = 0;      // segments of that size, each in one domain (in one leaf where there is none)
  std::size_t stranded = 0;  // idle nodes in no such segment
};

struct Score {
  std::vector<JobScore> jobs;
  // Means over the jobs of more than one node.
  double leaves = 0, least_leaves = 0, hops = 0, crossings = 0;
  double in_one_domain = 0;  // share of those jobs
  std::size_t idle = 0;
  std::vector<Segments> segments;
  // Share of the idle nodes that are on leaves on which others work: 0 when whole leaves are idle.
  double fragmentation = 0;
};

// Nodes without a position are on a leaf of their own. idle: nodes that no job has.
Score score(const Positions& truth, const std::vector<PlacedJob>& jobs, const std::vector<std::string>& idle,
            const std::vector<std::size_t>& segment_sizes = {2, 4, 8, 16, 18});

// A job a line: "ID HOSTLIST", as squeue -h -t R -o '%A %N' prints it. kInvalid with the line.
Result<std::vector<PlacedJob>> read_jobs(std::string_view text);

// For people: one table, or two scores side by side.
std::string draw(const Score& score);
std::string draw(const Score& before, const Score& after);

}  // namespace espalier::topology
