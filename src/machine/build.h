// Makes, looks at and ends one machine. The folder says everything; who calls this keeps nothing in memory.
#pragma once

#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "machine/process.h"
#include "machine/spec.h"

namespace espalier::machine {

// Builds the machine of `folder` (machine.json and user-data.json are there) with `agent` as its first process, and
// returns when that runs. Does nothing when it runs already; tears down what an earlier, broken try left. The machine
// is in a session of its own and outlives the caller. For small single-threaded processes: it clones the caller.
Result<void> build(const std::filesystem::path& folder, const std::filesystem::path& agent);

// Ends the machine, its agent by SIGTERM first, and starts it anew with the disk, id and address that it had, as a
// reboot does. A machine that has ended is only started. On failure it stays ended, with its disk.
Result<void> restart(const std::filesystem::path& folder, const std::filesystem::path& agent);

// `espalier-agent build FOLDER`, `espalier-agent restart FOLDER`: takes main's arguments; the running program is the
// machine's agent too.
// Exit status 0: it runs; 1: it does not, one line on standard error says why, nothing but the folder is left; 2:
// usage.
int build_main(int argc, char** argv);

enum class Phase {
  kUnbuilt,  // nothing ever ran: being built now, or half-built by somebody who died
  kRuns,
  kEnded,  // its first process has ended
};
struct State {
  Phase phase = Phase::kUnbuilt;
  std::optional<ProcessRecord> pid1;
};
State state(const std::filesystem::path& folder);

// Ends all processes of the machine and takes its cable away. The folder stays. Nothing there: success.
Result<void> tear_down(const std::filesystem::path& folder, const MachineSpec& spec, Millis timeout);

// Held while a machine is built or destroyed, by whoever does it; ends with that process.
Result<UniqueFd> lock_folder(const std::filesystem::path& folder, Millis timeout);

}  // namespace espalier::machine
