// The machine's own view of files: called by its first process, alone in fresh namespaces.
#pragma once

#include <filesystem>

#include "machine/spec.h"

namespace espalier::machine {

// Mounts the image with the machine's overlay, kernel file systems, devices, volumes, agent and user data, and makes
// that the root; nothing of the host stays in sight. `agent` is the program that becomes /run/espalier/agent.
Result<void> enter_root(const MachineSpec& spec, const std::filesystem::path& folder,
                        const std::filesystem::path& agent);

}  // namespace espalier::machine
