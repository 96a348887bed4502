// Makes the machine what a Setup says: munge, Slurm's files, the script OnCreate, Slurm's daemon last of all but
// the script OnInitComplete.
//
// Idempotent. A running slurmctld or slurmd is never restarted by it. On a compute machine it returns when slurmd is
// being looked after, not when it has registered: that may take as long as the controller is away, and shows in
// sinfo and in the DaemonView.
#pragma once

#include <vector>

#include "agent/config_folder.h"
#include "agent/daemons.h"
#include "agent/lifecycle.h"
#include "agent/protocol.h"
#include "agent/slurm_steps.h"
#include "base/result.h"

namespace espalier::agent {

inline constexpr const char* kLogFolder = "/var/log/slurm";
inline constexpr const char* kSlurmctldLog = "/var/log/slurm/slurmctld.log";
inline constexpr const char* kStateSaveFolder = "/var/spool/slurmctld";  // a volume that outlives the machine
inline constexpr std::uint16_t kSlurmctldPort = 6817;

// What set_up works with.
struct Surroundings {
  Daemons& daemons;
  ConfigFolder& slurm_folder;
  RunCommand run;
  LifecycleRunner& lifecycle;
};

Result<void> set_up(const Setup& setup, const Surroundings& with);
// Replaces the marked block of /etc/hosts, or changes it.
Result<void> set_hosts(const std::vector<HostEntry>& hosts);
Result<void> change_hosts(const HostsDelta& delta);

}  // namespace espalier::agent
