#include "agent/extra_files.h"

#include <algorithm>

#include "agent/files.h"

namespace espalier::agent {

namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end() && path != folder;
}

Result<void> check(const ConfigFile& file, const fs::path& root) {
  const fs::path path = root / fs::path(file.name).relative_path();
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path.parent_path(), error) / path.filename();
  const fs::path real_root = fs::weakly_canonical(root, error);
  const bool allowed =
      fs::path(file.name).is_absolute() && path.lexically_normal() == path && path.has_filename() &&
      std::ranges::any_of(kExtraFolders, [&](const char* folder) {
        return is_below(file.name, folder) && is_below(real, real_root / fs::path(folder).relative_path());
      });
  if (allowed && !error) return {};
  return fail(ErrorCode::kInvalid, "{} is not written: only files below /etc/slurm and /etc/nvidia-imex are",
              file.name);
}

}  // namespace

Result<void> put_extra_files(const std::vector<ConfigFile>& files, const fs::path& root) {
  for (const auto& file : files)
    if (auto ok = check(file, root); !ok) return ok;
  for (const auto& file : files) {
    const fs::path path = root / fs::path(file.name).relative_path();
    std::error_code error;
    if (file.keep && fs::exists(path, error)) continue;
    auto done = put_folder(path.parent_path()).and_then([&] { return put_file(path, file.text); });
    if (!done) return done;
  }
  return {};
}

}  // namespace espalier::agent
