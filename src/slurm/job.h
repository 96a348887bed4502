// A job as slurmctld shows it: one line of `scontrol -o show job`. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::slurm {

struct Job {
  std::string id;
  std::string state;   // PENDING, RUNNING, …
  std::string reason;  // Resources, Priority, …; "" for None
  std::string partition;
  std::string dependency;  // "" for none; so are these
  std::string start_time;
  std::string node_list;
  std::string features;
  int nodes = 1;
  int switches = 0;               // --switches; 0: any number
  std::optional<int> segment;     // --segment; older versions do not show it
  std::vector<std::string> only;  // -w
  std::vector<std::string> not_on;
};

// Of several lines (an array, parts of a heterogeneous job) the first that waits, else the first.
Result<Job> read_job(std::string_view text);

}  // namespace espalier::slurm
