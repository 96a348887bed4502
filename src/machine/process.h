// A process that outlives the one that started it, found again by pid and start time: a pid alone is reused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace espalier::machine {

struct ProcessRecord {
  int pid = 0;
  std::uint64_t start_time = 0;  // clock ticks after boot, field 22 of /proc/PID/stat
  std::string boot;              // the kernel's boot id
};
BOOST_DESCRIBE_STRUCT(ProcessRecord, (), (pid, start_time, boot))

// Of a process that runs now. kNotFound: there is none, or it is a zombie.
Result<ProcessRecord> record_of(int pid);

// A handle of the very process that was recorded; absent when it has ended. Readable (poll) once it ends.
std::optional<UniqueFd> open_process(const ProcessRecord& record);

// Sends the signal and waits until the process is gone; kTimeout when it lives on.
Result<void> end_process(const ProcessRecord& record, int signal, Millis timeout);
// By SIGKILL. As the first process of a PID namespace it takes all others with it.
Result<void> kill_process(const ProcessRecord& record, Millis timeout);

// kNotFound: not recorded.
Result<ProcessRecord> load_process(const std::filesystem::path& file);

}  // namespace espalier::machine
