// The first process of a machine, between its clone and its agent.
#pragma once

#include <filesystem>

#include "base/unique_fd.h"
#include "machine/spec.h"

namespace espalier::machine {

// How builder and first process wait for each other.
struct FirstPipes {
  int go = -1;       // read: one byte when it is recorded and its cable is there; end of file: the builder died
  int failure = -1;  // write: the cause, when it cannot become the agent; closed without a word by its exec
};

// Never returns: becomes the agent, or exits.
[[noreturn]] void run_first(const MachineSpec& spec, const std::filesystem::path& folder,
                            const std::filesystem::path& agent, const FirstPipes& pipes);

}  // namespace espalier::machine
