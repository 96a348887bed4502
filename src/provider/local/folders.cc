#include "provider/local/folders.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/log.h"
#include "machine/build.h"
#include "machine/enter.h"

namespace espalier::local {

namespace fs = std::filesystem;

namespace {

Result<void> remove_tree(const fs::path& path) {
  std::error_code ec;
  fs::remove_all(path, ec);
  if (!ec) return {};
  return fail(ErrorCode::kUnavailable, "cannot remove {}: {}", path.string(), ec.message());
}

Result<void> rename_to(const fs::path& from, const fs::path& to) {
  std::error_code ec;
  fs::rename(from, to, ec);
  if (!ec) return {};
  return fail(ErrorCode::kUnavailable, "cannot rename {} to {}: {}", from.string(), to.string(), ec.message());
}

// Nobody sees it half removed.
Result<void> remove_whole(const fs::path& path) {
  std::error_code ec;
  if (!fs::exists(path, ec)) return {};
  const fs::path gone = path.string() + ".gone";
  return remove_tree(gone).and_then([&] { return rename_to(path, gone); }).and_then([&] { return remove_tree(gone); });
}

bool on_its_way(const fs::path& folder) { return folder.extension() == ".new" || folder.extension() == ".gone"; }

// What was on its way in or out when an earlier process died: nothing runs there.
Result<void> clear_away(const fs::path& folder) {
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (on_its_way(entry.path()))
      if (auto ok = remove_tree(entry.path()); !ok) return ok;
  if (!ec) return {};
  return fail(ErrorCode::kUnavailable, "cannot read {}: {}", folder.string(), ec.message());
}

Result<void> give_to(const fs::path& path, const machine::User& user) {
  if (lchown(path.c_str(), user.uid, user.gid) == 0) return {};
  return fail(ErrorCode::kPermission, "cannot give {} to {}: {}", path.string(), user.name, std::strerror(errno));
}

// A home as `useradd --create-home` makes it.
Result<void> make_home(const fs::path& home, const machine::User& user, const fs::path& image) {
  std::error_code ec;
  if (fs::exists(home, ec)) return {};
  const fs::path beside = home.string() + ".new";
  if (auto ok = remove_tree(beside).and_then([&] { return make_folder(beside); }); !ok) return ok;
  fs::copy(image / "etc/skel", beside, fs::copy_options::recursive | fs::copy_options::copy_symlinks, ec);
  auto given = give_to(beside, user);
  for (const auto& entry : fs::recursive_directory_iterator(beside, ec))
    if (given) given = give_to(entry.path(), user);
  return given.and_then([&] { return rename_to(beside, home); });
}

Result<void> make_controller_folder(const fs::path& folder, unsigned mode, const machine::User& slurm) {
  std::error_code ec;
  if (fs::exists(folder, ec)) return {};
  return make_folder(folder, mode).and_then([&] { return give_to(folder, slurm); });
}

}  // namespace

Result<std::vector<machine::MachineSpec>> Folders::open() {
  for (const char* name : {"machines", "volumes"})
    if (auto ok = make_folder(state_ / name, 0700).and_then([&] { return clear_away(state_ / name); }); !ok)
      return tl::unexpected(ok.error());
  std::vector<machine::MachineSpec> machines;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(state_ / "machines", ec)) {
    auto spec = machine::load_spec(entry.path());
    if (spec && spec->id.str() == entry.path().filename())
      machines.push_back(std::move(*spec));
    else
      log::warn("{} holds no machine that can be read, it is left alone: {}", entry.path().string(),
                spec ? "its id is another" : spec.error().message);
  }
  if (ec) return fail(ErrorCode::kUnavailable, "cannot read {}: {}", (state_ / "machines").string(), ec.message());
  return machines;
}

Result<void> Folders::write_machine(const machine::MachineSpec& spec, const UserData& user_data) {
  const fs::path folder = machine(spec.id);
  std::error_code ec;
  const bool there = fs::exists(folder, ec);
  const fs::path target = there ? folder : fs::path(folder.string() + ".new");
  return make_folder(target)
      .and_then([&] { return machine::save_record(target / machine::kUserDataFile, to_json(user_data), 0600); })
      .and_then([&] { return machine::save_record(target / machine::kSpecFile, to_json(spec)); })
      .and_then([&]() -> Result<void> { return there ? Result<void>() : rename_to(target, folder); });
}

Result<void> Folders::destroy_machine(const machine::MachineSpec& spec, Millis timeout) {
  const fs::path folder = machine(spec.id);
  std::error_code ec;
  if (!fs::exists(folder, ec)) return machine::tear_down(folder, spec, timeout);
  const auto lock = machine::lock_folder(folder, timeout);
  if (!lock) return tl::unexpected(lock.error());
  return machine::tear_down(folder, spec, timeout).and_then([&] { return remove_whole(folder); });
}

Result<std::vector<machine::Volume>> Folders::volumes(const ClusterId& cluster, NodeType role, const fs::path& image) {
  const auto passwd = read_file(image / "etc/passwd");
  if (!passwd) return tl::unexpected(passwd.error());
  const auto user = machine::find_user(*passwd, "ubuntu");
  const auto slurm = machine::find_user(*passwd, "slurm");
  if (!user || !slurm) return tl::unexpected((user ? slurm : user).error());

  const fs::path base = volume(cluster);
  auto made = make_folder(base / "home").and_then([&] { return make_home(base / "home" / user->name, *user, image); });
  std::vector<machine::Volume> out{{base / "home", "/home"}};
  if (role == NodeType::Controller) {
    made = made.and_then([&] { return make_controller_folder(base / "slurm", 0755, *slurm); }).and_then([&] {
      return make_controller_folder(base / "state", 0700, *slurm);
    });
    out.push_back({base / "slurm", "/etc/slurm"});
    out.push_back({base / "state", "/var/spool/slurmctld"});
  }
  if (!made) return tl::unexpected(made.error());
  return out;
}

Result<void> Folders::remove_volumes(const ClusterId& cluster) { return remove_whole(volume(cluster)); }

bool Folders::has_volumes() const {
  std::error_code ec;
  return !fs::is_empty(state_ / "volumes", ec) && !ec;
}

}  // namespace espalier::local
