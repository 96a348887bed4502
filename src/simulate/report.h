// What came of a scenario, lived in one way or both. Plain data; as text for people, as JSON through to_json().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/terminal.h"

namespace espalier::simulate {

// Of compute machines.
struct NodeHours {
  double wished = 0;  // nodes that the user wanted, whether they could be had or not
  double had = 0;     // machines, from launch to end: what is paid for
  double ready = 0;   // nodes that Slurm could use
  double used = 0;    // by jobs
};
BOOST_DESCRIBE_STRUCT(NodeHours, (), (wished, had, ready, used))

// A size that was wished for, and when it was first reached.
struct Size {
  Millis at{0};
  int count = 0;
  std::optional<Millis> reached;  // times are counted from CreateCluster
};
BOOST_DESCRIBE_STRUCT(Size, (), (at, count, reached))

struct GroupReport {
  std::string name;
  std::string type;
  std::vector<Size> sizes;
  std::optional<Millis> first_ready;
  std::optional<Millis> first_job;
  int launched = 0;  // machines
  int died = 0;
  NodeHours hours;
};
BOOST_DESCRIBE_STRUCT(GroupReport, (), (name, type, sizes, first_ready, first_job, launched, died, hours))

struct JobsReport {
  int submitted = 0;
  int ended = 0;
  int running = 0;
  int waiting = 0;
  int restarts = 0;              // of jobs that lost a node
  std::optional<Millis> waited;  // from submission to first start, on average of those that started
};
BOOST_DESCRIBE_STRUCT(JobsReport, (), (submitted, ended, running, waiting, restarts, waited))

// From then on; `ready` has a number for every group.
struct Point {
  Millis at{0};
  std::vector<int> ready;
  int wished = 0;
  int used = 0;
};
BOOST_DESCRIBE_STRUCT(Point, (), (at, ready, wished, used))

struct LifeReport {
  std::string mode;                  // continuous, all-or-nothing
  std::optional<Millis> in_service;  // users may submit jobs
  std::optional<Millis> first_job;
  std::optional<Millis> full_size;  // all groups at once, for the first time
  int creations = 0;                // and how many of them went back
  int failed_creations = 0;
  JobsReport jobs;
  NodeHours hours;
  std::vector<GroupReport> groups;
  std::vector<Point> timeline;
};
BOOST_DESCRIBE_STRUCT(LifeReport, (),
                      (mode, in_service, first_job, full_size, creations, failed_creations, jobs, hours, groups,
                       timeline))

struct Report {
  std::string scenario;
  Millis duration{0};
  std::uint64_t seed = 0;
  std::vector<LifeReport> lives;
};
BOOST_DESCRIBE_STRUCT(Report, (), (scenario, duration, seed, lives))

std::vector<std::string> text(const Report& report, const cli::Terminal& terminal);

}  // namespace espalier::simulate
