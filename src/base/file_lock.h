// Exclusive ownership of a path by one process, for as long as the object lives; ended by the kernel when the process
// dies, however it dies. The lock file stays and holds the owner's pid, for people and for messages.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "base/unique_fd.h"

namespace espalier {

class FileLock {
 public:
  // Makes the file (mode 0600) when absent. kConflict names the process that holds it, this one too.
  static Result<FileLock> take(const std::filesystem::path& path);

 private:
  explicit FileLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace espalier
