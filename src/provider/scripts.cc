#include "provider/scripts.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/base64.h"
#include "base/unique_fd.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot_read(const fs::path& path, int error) {
  if (error == EXDEV || error == ELOOP)
    return fail(ErrorCode::kPermission, "{} leads out of the folder of scripts: it is not read", path.string());
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return fail(code, "cannot read {}: {}", path.string(), std::strerror(error));
}

// The kernel itself sees to it that no part of the way leaves `root`, also when somebody renames things meanwhile.
UniqueFd open_below(int root, const std::string& path, std::uint64_t flags) {
  const open_how how{.flags = flags | O_CLOEXEC | O_NONBLOCK, .mode = 0, .resolve = RESOLVE_BENEATH};
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

Result<std::string> read_all(int fd, const fs::path& path, std::size_t limit) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(path, errno);
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > limit)
      return fail(ErrorCode::kLimit, "there is more than {} MiB below the address of the scripts",
                  kMaxScriptBytes >> 20);
  }
}

// One folder being read.
struct Reading {
  int root;
  fs::path shown;  // for messages
  std::string folder;
  std::vector<ScriptFile> files{};
  std::size_t bytes = 0;

  Result<void> add(const std::string& name) {
    const UniqueFd fd = open_below(root, folder + "/" + name, O_RDONLY);
    if (!fd) return cannot_read(shown / folder / name, errno);
    struct stat status{};
    if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
      return fail(ErrorCode::kInvalid, "{} is no ordinary file", (shown / folder / name).string());
    if (files.size() == kMaxScriptFiles)
      return fail(ErrorCode::kLimit, "there are more than {} files below {}", kMaxScriptFiles, folder);
    auto text = read_all(fd.get(), shown / folder / name, kMaxScriptBytes - bytes);
    if (!text) return tl::unexpected(text.error());
    bytes += text->size();
    files.push_back({name, to_base64(*text), (status.st_mode & S_IXUSR) != 0});
    return {};
  }
};

bool is_bucket_name(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string_view::npos &&
         name.front() != '.' && name.front() != '-';
}

}  // namespace

Result<std::string> path_of_s3_uri(const std::string& uri) {
  if (!uri.starts_with("s3://")) return fail(ErrorCode::kInvalid, "'{}' must begin with s3://", uri);
  std::string path = uri.substr(5);
  while (path.ends_with('/')) path.pop_back();
  if (!is_bucket_name(path.substr(0, path.find('/'))))
    return fail(ErrorCode::kInvalid, "'{}' names no bucket: 3 to 63 of a-z, 0-9, '.' and '-'", uri);
  for (const fs::path& part : fs::path(path))
    if (part == "." || part == "..") return fail(ErrorCode::kInvalid, "'{}' may not hold '{}'", uri, part.string());
  if (path.find('\0') != std::string::npos) return fail(ErrorCode::kInvalid, "an address of scripts holds a zero byte");
  return path;
}

Result<ScriptBundle> ScriptFolder::fetch(const std::string& uri) {
  const auto path = path_of_s3_uri(uri);
  if (!path) return tl::unexpected(path.error());
  const UniqueFd root(open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return cannot_read(root_, errno);
  if (const UniqueFd folder = open_below(root.get(), *path, O_RDONLY | O_DIRECTORY); !folder)
    return cannot_read(root_ / *path, errno);

  // Links to folders are not followed; those to files below the root are.
  Reading reading{root.get(), root_, *path};
  std::error_code error;
  const fs::path base = root_ / *path;
  for (auto it = fs::recursive_directory_iterator(base, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    if (it->is_directory(error) && !it->is_symlink(error)) continue;
    if (auto added = reading.add(it->path().lexically_relative(base)); !added) return tl::unexpected(added.error());
  }
  if (error) return cannot_read(base, error.value());
  if (reading.files.empty()) return fail(ErrorCode::kNotFound, "there are no files in {} for {}", base.string(), uri);
  std::ranges::sort(reading.files);
  std::string digest = digest_of(reading.files);
  return ScriptBundle{uri, std::move(digest), std::move(reading.files)};
}

}  // namespace espalier
