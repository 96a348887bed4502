#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace espalier {

namespace {

tl::unexpected<Error> cannot(const char* what, const std::filesystem::path& path) {
  const ErrorCode code = errno == ENOENT                     ? ErrorCode::kNotFound
                         : errno == EACCES || errno == EPERM ? ErrorCode::kPermission
                                                             : ErrorCode::kUnavailable;
  return fail(code, "cannot {} {}: {}", what, path.string(), std::strerror(errno));
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  // Not a stream: one that fails half-way looks like the end of the file.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return cannot("read", path);
  std::string text;
  std::array<char, 16384> piece{};
  while (true) {
    const ssize_t n = read(file.get(), piece.data(), piece.size());
    if (n == 0) return text;
    if (n < 0 && errno != EINTR) return cannot("read", path);
    if (n > 0) text.append(piece.data(), static_cast<std::size_t>(n));
  }
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  std::string beside = path.string() + ".XXXXXX";
  const int fd = mkostemp(beside.data(), O_CLOEXEC);
  if (fd < 0) return cannot("write beside", path);
  std::size_t done = 0;
  bool ok = fchmod(fd, mode) == 0;
  while (ok && done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    ok = n >= 0;
    if (ok) done += static_cast<std::size_t>(n);
  }
  ok = ok && fsync(fd) == 0;
  const int saved = errno;
  close(fd);
  errno = saved;
  if (!ok || rename(beside.c_str(), path.c_str()) != 0) {
    auto failed = cannot("write", path);
    unlink(beside.c_str());
    return failed;
  }
  const int folder =
      open(path.parent_path().empty() ? "." : path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return {};
}

Result<void> make_folder(const std::filesystem::path& path, unsigned mode) {
  std::error_code ec;
  std::filesystem::create_directories(path, ec);
  if (!ec) std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode), ec);
  if (ec) return fail(ErrorCode::kPermission, "cannot make folder {}: {}", path.string(), ec.message());
  return {};
}

}  // namespace espalier
