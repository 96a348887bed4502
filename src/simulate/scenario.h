// What is to be lived: a file in YAML (or JSON, which is YAML too). docs/guide/simulate.md describes every member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "faults.h"
#include "job_queue.h"
#include "provider/sim/fabric_model.h"
#include "slurm/hostlist.h"

namespace espalier::simulate {

// How long something takes: any time in between, as the seed has it.
struct Range {
  Millis from{0}, to{0};
};

struct GroupWish {
  std::string name;
  std::string type;
  std::string partition;  // of Slurm; the group's name unless said
  int count = 0;
};

// The user wishes for another size.
struct Resize {
  Millis at{0};
  std::string group;
  int count = 0;
};

// From then on the pool has so many machines; nullopt: no bound.
struct CapacityStep {
  Millis at{0};
  std::string type;
  std::optional<int> machines;
};

// `times` jobs of a kind, the first at `at`, one after each `every`.
struct Jobs {
  sim::JobWish job;
  Millis at{0};
  Millis every{0};
  int times = 1;
};

// One of: a node, some nodes of a group at once, every node of a group at random, the control plane.
struct Failure {
  std::optional<Millis> at;     // once, or …
  std::optional<Millis> every;  // … each machine of the group so often on average
  std::string node;
  std::string group;
  int machines = 1;
  bool control_plane = false;
};

struct Scenario {
  std::string name;
  Millis duration{0};
  std::uint64_t seed = 1;
  std::string controller = "ml.m5.xlarge";  // its instance type
  std::vector<GroupWish> groups;
  std::vector<Resize> changes;  // by time, as are the next two
  std::vector<CapacityStep> capacity;
  std::vector<Failure> failures;
  std::vector<Jobs> jobs;
  sim::FabricModel fabric;
  Range launch, boot, setup;
  sim::Faults chances;
  // The older way to provision: when it gives everything back, and when the user tries again after that.
  Millis gives_up_after{0};
  Millis tries_again_after{0};
};

// The group of the controller, which every cluster has.
inline constexpr const char* kControllerGroup = "controller";

// The most that a scenario may ask for.
inline constexpr int kMostNodes = slurm::kNodeTable;
inline constexpr int kMostJobs = 100'000;
inline constexpr std::size_t kMostSteps = 10'000;  // of each list

// kInvalid: says line, member and what is allowed.
Result<Scenario> read_scenario(const std::string& text);

}  // namespace espalier::simulate
