// What users submit to one Slurm. Jobs wait in the order in which they came and start when enough nodes of their
// partition are idle; later ones are let past where that keeps no earlier one waiting (backfill, as Slurm does it). A
// job that loses a node goes back to its place and runs again from its last checkpoint.
//
// Partitions are taken to share no nodes. Slurm chooses the nodes; how long a job runs does not depend on which.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slurm.h"

namespace espalier::sim {

struct JobWish {
  std::string name;
  std::string partition;
  int nodes = 1;
  Millis runs{0};
  Millis checkpoint{0};  // between two of them; 0: it starts from the beginning
};

// ---- who may start: pure ----
struct WaitingJob {
  int nodes = 0;
  Millis left{0};
};
struct RunningJob {
  int nodes = 0;
  Time ends{};
};
// Of one partition with so many idle nodes: the places in `waiting` of those that may start now.
std::vector<std::size_t> startable(const std::vector<WaitingJob>& waiting, std::vector<RunningJob> running, int idle,
                                   Time now);

class JobQueue {
 public:
  struct Job {
    JobWish wish;
    Time submitted{};
    std::optional<Time> started;  // for the first time
    std::optional<Time> ended;
    Millis left{0};
    int restarts = 0;
  };
  // One time that a job ran.
  struct Run {
    std::size_t job = 0;
    std::vector<std::string> nodes;
    Time from{}, to{};
  };

  void submit(JobWish wish, Time now);
  // Ends what is over, takes back what has lost a node, starts what can start. To be called every second or so.
  void look(Slurm& slurm, Time now);

  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
  // In the order of their ends; those under way last, as if they ended now.
  [[nodiscard]] std::vector<Run> runs(Time now) const;
  [[nodiscard]] std::size_t running() const { return running_.size(); }

 private:
  void end_runs(Slurm& slurm, Time now);
  void start_in(Slurm& slurm, const std::string& partition, const std::set<std::size_t>& waiting, Time now);

  std::vector<Job> jobs_;
  std::map<std::string, std::set<std::size_t>> waiting_;  // partition → jobs, by their order
  std::map<int, Run> running_;                            // Slurm's number → run
  std::vector<Run> ended_;
  std::int64_t seen_ = 0;  // version of Slurm's nodes at the last look; 0: look again
};

}  // namespace espalier::sim
