// The nodes of every NVLink domain, for nvidia-imex: machines of one domain reach each other's memory only when each
// has the addresses of all. The same data as the blocks, changed with them.
#pragma once

#include <vector>

#include "agent/protocol.h"
#include "reconcile/work.h"

namespace espalier::reconcile {

inline constexpr const char* kImexNodes = "/etc/nvidia-imex/nodes_config.cfg";

// For a machine's setup; none when it is in no NVLink domain. It counts as told.
std::vector<agent::ConfigFile> imex_files(Work& work, const Slot& slot);
// The answer of a machine that was told; false: it is to something else. What could not be written is sent again.
bool on_imex_done(Work& work, const Slot& slot, const agent::CommandResult& result);
// Tells machines that are set up when the list of their domain is another now.
void spread_imex(Work& work);

}  // namespace espalier::reconcile
