// The agent of one machine: takes commands from the control plane, carries them out in order, and reports.
//
// Threads: `next` (long poll; carries commands out itself), `report`, `health`, one for each daemon, on a controller
// the watch. They never end: the process does, by _exit, after end_daemons().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/config_folder.h"
#include "agent/daemons.h"
#include "agent/deep_check.h"
#include "agent/lifecycle.h"
#include "agent/link.h"
#include "agent/outbox.h"
#include "agent/processes.h"
#include "agent/watch.h"

namespace espalier::agent {

inline constexpr const char* kRunFolder = "/run/espalier";

class Agent {
 public:
  Agent(std::unique_ptr<Link> link, Processes& processes);

  [[noreturn]] void take_commands();
  [[noreturn]] void send_reports();
  [[noreturn]] void watch_health();
  // Slurm's daemons first, then munged.
  void end_daemons() { daemons_.end_all(); }

 private:
  void take(const NextAnswer& answer);
  // Nothing: the result comes later.
  std::optional<CommandResult> carry_out(const Command& command);
  Result<void> bring_hosts();
  Result<void> carry_out_slurm(const std::vector<SlurmStep>& steps, std::vector<SlurmStepResult>& results);

  const std::string boot_;
  std::unique_ptr<Link> link_;
  RunCommand run_;
  Outbox outbox_;
  LifecycleRunner lifecycle_;
  DeepChecks checks_;
  Daemons daemons_;
  ConfigFolder slurm_folder_{kSlurmFolder};
  std::optional<Watch> watch_;  // once this machine is a controller

  // Of the `next` thread.
  std::string control_plane_boot_;
  std::int64_t acknowledged_ = 0;
};

}  // namespace espalier::agent
