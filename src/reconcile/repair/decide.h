// What is done about a machine that is not well. Pure.
//
// A reboot first, another machine when that did not help; at once where nothing can run on it any more, after its jobs
// otherwise. A machine whose agent alone is silent may run jobs: nothing is done before slurmctld has lost it too. A
// clock that is off is told and left to whoever sets clocks: a reboot sets none.
#pragma once

#include <optional>
#include <string>

#include "model/cluster.h"

namespace espalier::reconcile {

enum class FaultKind {
  Silent,  // its agent is
  DaemonDead,
  DevicesMissing,
  DiskFull,
  ClockOff,
  OutOfUse,  // slurmctld has lost or drained it, of its own accord
};

struct Fault {
  FaultKind kind = FaultKind::Silent;
  std::string why;
  Time since{};
};

struct RepairSettings {
  Millis grace{60'000};       // faults pass: a restart of a daemon, a short silence
  Millis memory{3600'000};    // a fault so soon after a repair was not cured by it
  Millis again{30 * 60'000};  // between two replacements for the same trouble: it may not be the machine's
  int budget_percent = 10;    // of a group at a time, and always one
};

struct Patient {
  Fault fault;
  bool compute = true;
  bool seen = false;  // slurmctld was read, by a controller that is heard
  bool dead = false;  // slurmctld shows it down or not responding
  std::optional<Repair> last;
};

struct Treatment {
  RepairKind kind = RepairKind::Reboot;
  bool at_once = false;
  Time not_before{};
};
// Nothing: it is left alone for now.
std::optional<Treatment> treat(const Patient& patient, const RepairSettings& settings);

// So many of so many say nothing: then it is we who do not hear.
bool is_blind(int silent, int all);
// How many of a group may be under repair at a time.
int budget(int target, const RepairSettings& settings);

}  // namespace espalier::reconcile
