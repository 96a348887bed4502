// How far a cluster is: what the API says of it and its nodes, condensed to a line a group. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "cli/wire.h"

namespace espalier::cli {

struct GroupProgress {
  std::string name;
  std::string type;
  int ready = 0;  // nodes that can be used
  int target = 0;
  std::map<std::string, int> others;  // life-cycle state → nodes that are not ready
  std::string trouble;                // why a node of it waits, and when the next try is; may be empty
  bool operator==(const GroupProgress&) const = default;
};

struct Progress {
  std::string cluster;
  std::string status;
  std::string failure;
  std::vector<GroupProgress> groups;
  bool operator==(const Progress&) const = default;
};

Progress read_progress(const wire::Cluster& cluster, const std::vector<wire::Node>& nodes, Time now);
// In service, every group has exactly what it should have, and all of it is ready.
bool is_grown(const Progress& progress);

// "6/8 ready, 1 Launching, 1 Backoff".
std::string summary(const GroupProgress& group);
// For redrawing on a terminal: the cluster, a table of groups with bars, the last event, and how to leave.
std::vector<std::string> draw(const Progress& progress, Millis elapsed, const std::string& last_event,
                              const Terminal& terminal);
// For files and pipes: one line for every group whose counts changed or that is gone, and one when the cluster's status
// did.
std::vector<std::string> changes(const Progress& before, const Progress& after);

}  // namespace espalier::cli
