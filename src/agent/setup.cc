#include "agent/setup.h"

#include <unistd.h>

#include <filesystem>

#include "agent/extra_files.h"
#include "agent/files.h"
#include "agent/hosts_file.h"
#include "base/base64.h"
#include "base/file.h"

namespace espalier::agent {

namespace {

namespace fs = std::filesystem;

constexpr Millis kMungedTimeout{20'000};
constexpr Millis kSlurmctldTimeout{120'000};  // 20,000 nodes take seconds; a saved state that must be read, more
constexpr Millis kSackdTimeout{120'000};
constexpr const char* kMungeKey = "/etc/munge/munge.key";
constexpr const char* kMungeSocket = "/run/munge/munge.socket.2";
constexpr Account kUser{1000, 1000};  // the ordinary user, with the same ids on all machines
constexpr const char* kUserHome = "/home/ubuntu";

std::string log_of(const char* daemon) { return fmt::format("{}/{}.log", kLogFolder, daemon); }

// Runs the parts in order up to the first failure.
template <typename... Part>
Result<void> in_order(Part&&... part) {
  Result<void> done;
  (void)((done = part(), done.has_value()) && ...);
  return done;
}

Result<void> put_munge_key(const std::string& base64, const Account& munge, Daemons& daemons) {
  auto key = from_base64(base64);
  if (!key) return fail(ErrorCode::kInvalid, "the munge key cannot be read: {}", key.error().message);
  auto now = read_file(kMungeKey);
  if (now && *now != *key) daemons.end("munged");  // it reads its key once; Slurm's daemons connect anew
  return put_file(kMungeKey, *key, {0400, munge});
}

Result<void> set_up_munge(const Setup& setup, Daemons& daemons) {
  auto munge = find_account("munge");
  if (!munge) return tl::unexpected(munge.error());
  DaemonSpec munged{.name = "munged",
                    .argv = {"munged", "--foreground"},
                    .user = *munge,
                    .log = log_of("munged"),
                    .socket = kMungeSocket,
                    .after = std::nullopt};
  return in_order([&] { return put_folder("/etc/munge", {0700, *munge}); },
                  [&] { return put_folder("/var/lib/munge", {0711, *munge}); },
                  [&] { return put_folder("/var/log/munge", {0700, *munge}); },
                  [&] { return put_folder("/run/munge", {0755, *munge}); },
                  [&] { return put_munge_key(setup.munge_key, *munge, daemons); },
                  [&] { return daemons.ensure_ready(std::move(munged), kMungedTimeout); });
}

// slurmctld opens its log as user slurm.
Result<void> make_log_folder(NodeType role) {
  if (role != NodeType::Controller) return put_folder(kLogFolder);
  return find_account("slurm").and_then([](const Account& slurm) { return put_folder(kLogFolder, {0755, slurm}); });
}

// The ordinary user's home, from /etc/skel. All machines share /home, so the controller alone makes it.
Result<void> make_user_home() {
  std::error_code error;
  if (fs::exists(kUserHome, error)) return {};
  // Made beside and renamed: a home that is there is complete.
  const std::string beside = std::string(kUserHome) + ".new";
  fs::remove_all(beside, error);
  fs::create_directories("/home", error);
  fs::copy("/etc/skel", beside, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) return fail(ErrorCode::kUnavailable, "cannot make {} from /etc/skel: {}", kUserHome, error.message());
  for (const auto& entry : fs::recursive_directory_iterator(beside, error))
    if (lchown(entry.path().c_str(), kUser.uid, kUser.gid) != 0) error = {errno, std::generic_category()};
  if (!error) fs::rename(beside, kUserHome, error);
  if (error) return fail(ErrorCode::kUnavailable, "cannot make {}: {}", kUserHome, error.message());
  return put_folder(kUserHome, {0750, kUser});
}

Result<void> run_script(const Setup& setup, LifecycleHook hook, const Surroundings& with) {
  return setup.lifecycle && setup.lifecycle->hook == hook ? with.lifecycle.run(*setup.lifecycle) : Result<void>();
}

Result<void> set_up_controller(const Setup& setup, const Surroundings& with) {
  auto slurm = find_account("slurm");
  if (!slurm) return tl::unexpected(slurm.error());
  DaemonSpec slurmctld{.name = "slurmctld",
                       .argv = {"slurmctld", "--systemd"},  // with that option it does not change to SlurmUser itself
                       .user = *slurm,
                       .log = {},
                       .socket = {},
                       .after = std::nullopt};
  return in_order(
      [&] { return put_folder(kSlurmFolder); }, [&] { return put_folder(kStateSaveFolder, {0700, *slurm}); },
      [&] { return put_folder(kLogFolder, {0755, *slurm}); }, [&] { return with.slurm_folder.change(setup.files, {}); },
      make_user_home, [&] { return run_script(setup, LifecycleHook::OnCreate, with); },
      [&] { return with.daemons.ensure_ready(std::move(slurmctld), kSlurmctldTimeout); },
      [&] { return await_slurmctld(with.run, kSlurmctldTimeout); });
}

Result<void> set_up_compute(const Setup& setup, const Surroundings& with) {
  const std::string server = fmt::format("{}:{}", setup.controller.address, kSlurmctldPort);
  DaemonSpec slurmd{.name = "slurmd",
                    .argv = {"slurmd", "--systemd", "-N", setup.node_name, "--conf-server", server},
                    .user = {},
                    .log = {},
                    .socket = {},
                    .after = Endpoint{setup.controller.address, kSlurmctldPort}};
  return in_order([&] { return run_script(setup, LifecycleHook::OnCreate, with); },
                  [&] { return put_folder("/var/spool/slurmd"); },
                  [&] { return with.daemons.ensure(std::move(slurmd)); });
}

// A client of Slurm: sackd keeps the configuration where there is one, else every command fetches it.
Result<void> set_up_login(const Setup& setup, const Surroundings& with) {
  if (auto ran = run_script(setup, LifecycleHook::OnCreate, with); !ran) return ran;
  const std::string server = fmt::format("{}:{}", setup.controller.address, kSlurmctldPort);
  if (find_program("sackd")) {
    auto slurm = find_account("slurm");  // slurmctld's credentials are for it: as root it could not be reconfigured
    if (!slurm) return tl::unexpected(slurm.error());
    DaemonSpec sackd{.name = "sackd",
                     .argv = {"sackd", "--systemd", "--conf-server", server},
                     .user = *slurm,
                     .log = log_of("sackd"),
                     .socket = {},
                     .after = Endpoint{setup.controller.address, kSlurmctldPort}};
    return in_order([&] { return put_folder("/run/slurm", {0755, *slurm}); },
                    [&] { return with.daemons.ensure_ready(std::move(sackd), kSackdTimeout); });
  }
  const std::string line = "SLURM_CONF_SERVER=" + server + "\n";
  std::string environment = read_file("/etc/environment").value_or("");
  if (const auto at = environment.find("SLURM_CONF_SERVER="); at != std::string::npos)
    environment.erase(at, std::min(environment.find('\n', at), environment.size() - 1) + 1 - at);
  if (!environment.empty() && !environment.ends_with('\n')) environment += '\n';
  return in_order([&] { return put_file("/etc/environment", environment + line); },
                  [&] { return put_file("/etc/profile.d/espalier.sh", "export " + line); });
}

Result<void> set_up_role(const Setup& setup, const Surroundings& with) {
  switch (setup.role) {
    case NodeType::Controller:
      return set_up_controller(setup, with);
    case NodeType::Login:
      return set_up_login(setup, with);
    case NodeType::Compute:
      return set_up_compute(setup, with);
  }
  return fail(ErrorCode::kInvalid, "this agent does not know the role of this machine: update it");
}

}  // namespace

Result<void> set_hosts(const std::vector<HostEntry>& hosts) {
  return put_file("/etc/hosts", with_hosts(read_file("/etc/hosts").value_or(""), hosts));
}

Result<void> change_hosts(const HostsDelta& delta) {
  return put_file("/etc/hosts", with_delta(read_file("/etc/hosts").value_or(""), delta));
}

Result<void> set_up(const Setup& setup, const Surroundings& with) {
  return in_order([&] { return put_extra_files(setup.extra); }, [&] { return make_log_folder(setup.role); },
                  [&] { return set_up_munge(setup, with.daemons); }, [&] { return set_up_role(setup, with); },
                  [&] { return run_script(setup, LifecycleHook::OnInitComplete, with); });
}

}  // namespace espalier::agent
