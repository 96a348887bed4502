// /etc/slurm on a controller: several files changed together, and put back when slurmctld does not take them.
//
// One thread. All files are written beside first, then renamed one after the other: a crash in between leaves whole
// files only, of which some may be old.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/protocol.h"
#include "base/result.h"

namespace espalier::agent {

inline constexpr const char* kSlurmFolder = "/etc/slurm";

class ConfigFolder {
 public:
  explicit ConfigFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Writes `files` (keep: only where there is none) and deletes `remove`. On failure all files are as before.
  Result<void> change(const std::vector<ConfigFile>& files, const std::vector<std::string>& remove);
  // The changes since the last accept() are good.
  void accept() { old_.clear(); }
  // Puts back what was there at the last accept().
  Result<void> put_back();
  [[nodiscard]] bool has_changed() const { return !old_.empty(); }

 private:
  [[nodiscard]] std::filesystem::path path_of(const std::string& name) const { return folder_ / name; }

  std::filesystem::path folder_;
  std::map<std::string, std::optional<std::string>> old_;  // name → text before; nothing: there was none
};

}  // namespace espalier::agent
