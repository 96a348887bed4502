#include "agent/config_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "agent/files.h"
#include "base/file.h"

namespace espalier::agent {

namespace {

namespace fs = std::filesystem;

// Files written beside, which vanish unless they were renamed.
class Staged {
 public:
  Staged() = default;
  ~Staged() {
    for (const auto& [beside, path] : files_) unlink(beside.c_str());
  }
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;

  Result<void> add(const fs::path& path, std::string_view text) {
    auto beside = write_beside(path, text, {});
    if (!beside) return tl::unexpected(beside.error());
    files_.emplace_back(*beside, path);
    return {};
  }
  Result<void> rename_all() {
    for (const auto& [beside, path] : files_)
      if (rename(beside.c_str(), path.c_str()) != 0)
        return fail(ErrorCode::kUnavailable, "cannot replace {}: {}", path.string(), std::strerror(errno));
    files_.clear();
    return {};
  }

 private:
  std::vector<std::pair<fs::path, fs::path>> files_;
};

std::optional<std::string> text_of(const fs::path& path) {
  auto text = read_file(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

Result<void> check_name(const std::string& name) {
  if (!name.empty() && name.find('/') == std::string::npos && name[0] != '.') return {};
  return fail(ErrorCode::kInvalid, "'{}' is not the name of a file in {}", name, kSlurmFolder);
}

}  // namespace

Result<void> ConfigFolder::change(const std::vector<ConfigFile>& files, const std::vector<std::string>& remove) {
  for (const auto& name : remove)
    if (auto ok = check_name(name); !ok) return ok;
  std::map<std::string, std::optional<std::string>> before;
  Staged staged;
  for (const auto& file : files) {
    if (auto ok = check_name(file.name); !ok) return ok;
    auto now = text_of(path_of(file.name));
    if (now && (file.keep || *now == file.text)) continue;
    if (auto ok = staged.add(path_of(file.name), file.text); !ok) return ok;
    before.emplace(file.name, std::move(now));
  }
  for (const auto& name : remove)
    if (auto now = text_of(path_of(name))) before.emplace(name, std::move(now));

  // From here on put_back() knows what to undo.
  old_.merge(before);
  Result<void> done = staged.rename_all();
  for (const auto& name : remove)
    if (done && unlink(path_of(name).c_str()) != 0 && errno != ENOENT)
      done = fail(ErrorCode::kUnavailable, "cannot delete {}: {}", path_of(name).string(), std::strerror(errno));
  if (!done) static_cast<void>(put_back());
  return done;
}

Result<void> ConfigFolder::put_back() {
  Staged staged;
  for (const auto& [name, text] : old_) {
    if (!text) continue;
    if (auto ok = staged.add(path_of(name), *text); !ok) return ok;
  }
  if (auto ok = staged.rename_all(); !ok) return ok;
  for (const auto& [name, text] : old_)
    if (!text) unlink(path_of(name).c_str());
  old_.clear();
  return {};
}

}  // namespace espalier::agent
