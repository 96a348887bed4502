// Files, with errors that name the path and the cause.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

Result<std::string> read_file(const std::filesystem::path& path);
// Writes beside and renames, after fsync of file and folder: a reader sees the old text or the new, whole.
Result<void> write_file(const std::filesystem::path& path, std::string_view text, unsigned mode = 0644);
Result<void> make_folder(const std::filesystem::path& path, unsigned mode = 0755);

}  // namespace espalier
