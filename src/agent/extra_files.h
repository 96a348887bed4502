// Files beside Slurm's own that the control plane keeps on machines, such as the nodes of an NVLink domain for
// nvidia-imex. Written only below kExtraFolders.
#pragma once

#include <filesystem>
#include <vector>

#include "agent/protocol.h"
#include "base/result.h"

namespace espalier::agent {

// `root` is "/" but in tests. kInvalid, and nothing written, when one of the paths leads elsewhere: by its name, or
// because a folder on the way is a link.
Result<void> put_extra_files(const std::vector<ConfigFile>& files, const std::filesystem::path& root = "/");

}  // namespace espalier::agent
