// Files and folders with an owner, made as they should be; what is already so stays untouched.
//
// Replaced files are whole at any time but not synced to disk: what a crash of the machine takes, the next Setup
// writes again, and a sync costs more than all the rest of a machine's start.
#pragma once

#include <filesystem>
#include <string_view>

#include "agent/accounts.h"
#include "base/result.h"

namespace espalier::agent {

inline constexpr const char* kStateFolder = "/var/lib/espalier";  // the agent's own; survives a reboot

struct Access {
  mode_t mode = 0644;
  Account owner;
};

// Writes beside and renames; in place where the file is a mount point, which cannot be renamed over.
Result<void> put_file(const std::filesystem::path& path, std::string_view text, const Access& access = {});
// With its parents (0755, root).
Result<void> put_folder(const std::filesystem::path& path, const Access& access = {0755, {}});
// Writes `text` beside `path` and returns that name; rename(2) it over `path` to finish.
Result<std::filesystem::path> write_beside(const std::filesystem::path& path, std::string_view text,
                                           const Access& access);
// The last `limit` bytes of a log, from the beginning of a line; "" when there is none.
std::string tail_of(const std::filesystem::path& path, std::size_t limit);

}  // namespace espalier::agent
