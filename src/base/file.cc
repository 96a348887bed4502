#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace espalier {

namespace {

tl::unexpected<Error> cannot(const char* what, const std::filesystem::path& path) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound
                         : errno == EACCES || errno == EPERM ? ErrorCode::kPermission
                                                             : ErrorCode::kUnavailable;
  return fail(code, "cannot {} {}: {}", what, path.string(), std::strerror(errno));
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return cannot("read", path);
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return cannot("read", path);
  return std::move(text).str();
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
  const int folder = open(path.parent_path().empty() ? "." : path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
