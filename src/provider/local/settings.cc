#include "provider/local/settings.h"

#include <unistd.h>

#include "base/file.h"
#include "machine/enter.h"

namespace espalier::local {

namespace {

Result<void> check_image(const std::filesystem::path& image) {
  const auto remedy = fmt::format("make it with images/node-image.sh {}", image.string());
  std::error_code ec;
  if (!std::filesystem::is_directory(image, ec))
    return fail(ErrorCode::kNotFound, "there is no node image in '{}': {}", image.string(), remedy);
  // The links themselves: Debian's alternatives point to absolute paths, which are the host's from here.
  for (const char* program : {"usr/sbin/slurmctld", "usr/sbin/slurmd", "usr/sbin/munged", "bin/bash"})
    if (!std::filesystem::exists(std::filesystem::symlink_status(image / program, ec)))
      return fail(ErrorCode::kNotFound, "the node image in {} has no /{}: remove it and {}", image.string(), program,
                  remedy);
  const auto passwd = read_file(image / "etc/passwd");
  if (passwd && machine::find_user(*passwd, "ubuntu")) return {};
  return fail(ErrorCode::kNotFound, "the node image in {} has no user 'ubuntu': remove it and {}", image.string(),
              remedy);
}

}  // namespace

std::string image_id(const std::filesystem::path& image) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a: the same folder is the same release in every run
  for (const unsigned char c : image.lexically_normal().string()) hash = (hash ^ c) * 1099511628211ULL;
  return fmt::format("ami-{:016x}", hash);
}

Result<void> check_host(const LocalSettings& settings) {
  if (geteuid() != 0)
    return fail(ErrorCode::kPermission, "machines of namespaces, bridges and mounts need root: run it with sudo");
  if (access(settings.agent.c_str(), X_OK) != 0)
    return fail(ErrorCode::kNotFound, "there is no program '{}': espalier-agent is built and installed beside espalier",
                settings.agent.string());
  for (const auto& image : settings.more_images)
    if (auto ok = check_image(image); !ok) return ok;
  return check_image(settings.image);
}

}  // namespace espalier::local
