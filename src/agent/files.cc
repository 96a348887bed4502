#include "agent/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/file.h"
#include "base/unique_fd.h"

namespace espalier::agent {

namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot(const char* what, const fs::path& path, int error = errno) {
  return fail(ErrorCode::kUnavailable, "cannot {} {}: {}", what, path.string(), std::strerror(error));
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

Result<void> give(const fs::path& path, const Access& access) {
  struct stat now{};
  if (stat(path.c_str(), &now) != 0) return cannot("look at", path);
  if (now.st_uid != access.owner.uid || now.st_gid != access.owner.gid) {
    if (chown(path.c_str(), access.owner.uid, access.owner.gid) != 0) return cannot("change the owner of", path);
  }
  if ((now.st_mode & 07777) != access.mode && chmod(path.c_str(), access.mode) != 0)
    return cannot("change the mode of", path);
  return {};
}

Result<void> write_in_place(const fs::path& path, std::string_view text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  // Cut only at the end: a reader in between sees old lines rather than none.
  if (fd && write_all(fd.get(), text) && ftruncate(fd.get(), static_cast<off_t>(text.size())) == 0) return {};
  return cannot("write", path);
}

}  // namespace

Result<fs::path> write_beside(const fs::path& path, std::string_view text, const Access& access) {
  std::string beside = path.string() + ".XXXXXX";
  const UniqueFd fd(mkostemp(beside.data(), O_CLOEXEC));
  if (!fd) return cannot("write beside", path);
  if (write_all(fd.get(), text) && fchown(fd.get(), access.owner.uid, access.owner.gid) == 0 &&
      fchmod(fd.get(), access.mode) == 0)
    return fs::path(beside);
  const int error = errno;
  unlink(beside.c_str());
  return cannot("write", path, error);
}

Result<void> put_file(const fs::path& path, std::string_view text, const Access& access) {
  if (auto now = read_file(path); now && *now == text) return give(path, access);
  auto beside = write_beside(path, text, access);
  if (!beside) return tl::unexpected(beside.error());
  if (rename(beside->c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  unlink(beside->c_str());
  return error == EBUSY ? write_in_place(path, text) : cannot("write", path, error);
}

Result<void> put_folder(const fs::path& path, const Access& access) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fail(ErrorCode::kUnavailable, "cannot make folder {}: {}", path.string(), error.message());
  return give(path, access);
}

std::string tail_of(const fs::path& path, std::size_t limit) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return "";
  const auto size = static_cast<std::size_t>(in.tellg());
  // One byte more: a line that begins exactly there is whole.
  const std::size_t from = size > limit ? size - limit - 1 : 0;
  in.seekg(static_cast<std::streamoff>(from));
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (const auto end = text.find('\n'); from > 0 && end != std::string::npos) text.erase(0, end + 1);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace espalier::agent
