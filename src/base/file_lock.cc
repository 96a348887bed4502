#include "base/file_lock.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace espalier {

namespace {

std::string owner_in(int file) {
  std::array<char, 32> text{};
  const ssize_t n = pread(file, text.data(), text.size() - 1, 0);
  const long pid = n > 0 ? std::strtol(text.data(), nullptr, 10) : 0;
  return pid > 0 ? fmt::format("process {}", pid) : "another process";
}

}  // namespace

Result<FileLock> FileLock::take(const std::filesystem::path& path) {
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermission;
    return fail(code, "cannot make lock file {}: {}", path.string(), std::strerror(errno));
  }
  // A lock of the open file description: unlike a POSIX lock it excludes this process too, and is not lost when some
  // other part of it closes the same file.
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(file.get(), F_OFD_SETLK, &whole) != 0) {
    if (errno != EAGAIN && errno != EACCES)
      return fail(ErrorCode::kUnavailable, "cannot lock {}: {}", path.string(), std::strerror(errno));
    return fail(ErrorCode::kConflict, "{} is held by {}: stop it first", path.string(), owner_in(file.get()));
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(file.get(), 0) != 0 || pwrite(file.get(), pid.data(), pid.size(), 0) < 0)
    return fail(ErrorCode::kUnavailable, "cannot write {}: {}", path.string(), std::strerror(errno));
  return FileLock(std::move(file));
}

}  // namespace espalier
