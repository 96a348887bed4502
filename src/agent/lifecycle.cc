#include "agent/lifecycle.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "agent/backoff.h"
#include "agent/files.h"
#include "agent/secrets.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/log.h"
#include "base/unique_fd.h"

namespace espalier::agent {

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFolder = "/opt/ml/config";
constexpr std::size_t kTailBytes = 2000;
constexpr Millis kGrace{5000};

// A name that stays in its folder.
Result<void> check_inside(const std::string& name) {
  const fs::path path(name);
  bool inside = !name.empty() && path.is_relative() && path.has_filename();
  for (const fs::path& part : path) inside = inside && part != ".." && part != ".";
  if (inside) return {};
  return fail(ErrorCode::kInvalid, "'{}' is no name of a file in its folder", name);
}

Result<void> put_config(const std::vector<ConfigFile>& files, const fs::path& folder) {
  for (const auto& file : files) {
    auto put = check_inside(file.name).and_then([&] { return put_folder(folder); }).and_then([&] {
      return put_file(folder / file.name, file.text);
    });
    if (!put) return put;
  }
  return {};
}

// What an earlier try left there is removed: files that the user has taken away must be gone.
Result<void> put_scripts(const std::vector<ScriptFile>& files, const fs::path& folder, const std::string& script) {
  std::error_code error;
  fs::remove_all(folder, error);
  for (const auto& file : files) {
    if (auto ok = check_inside(file.path); !ok) return ok;
    auto text = from_base64(file.content);
    if (!text) return tl::unexpected(text.error());
    // Objects have no modes: what is to be run can be.
    const mode_t mode = file.executable || file.path == script ? 0755 : 0644;
    auto put = put_folder((folder / file.path).parent_path()).and_then([&] {
      return put_file(folder / file.path, *text, {mode, {}});
    });
    if (!put) return put;
  }
  if (fs::exists(folder / script, error)) return {};
  return fail(ErrorCode::kInvalid, "there is no file {} among the {} lifecycle scripts", script, files.size());
}

// The kernel itself runs only what begins with "#!" or is a program; a shell runs the rest.
std::vector<std::string> command_of(const fs::path& script) {
  const std::string text = read_file(script).value_or("");
  if (text.starts_with("#!") || text.starts_with("\x7f"
                                                 "ELF"))
    return {script};
  return {"bash", script};
}

}  // namespace

Result<void> LifecycleRunner::run(const Lifecycle& lifecycle) {
  if (auto put = put_config(lifecycle.config, at(kConfigFolder)); !put || lifecycle.digest.empty()) return put;
  const fs::path mark = at(kStateFolder) / fmt::format("{}.done", enum_name(lifecycle.hook));
  std::error_code error;
  if (fs::exists(mark, error)) return {};
  auto done = run_once(lifecycle);
  if (!done)
    return fail(done.error().code, "lifecycle script {} ({}): {}", lifecycle.script, enum_name(lifecycle.hook),
                done.error().message);
  log::info("lifecycle script {} ({}) is done", lifecycle.script, enum_name(lifecycle.hook));
  return put_folder(at(kStateFolder)).and_then([&] { return write_file(mark, lifecycle.digest + "\n"); });
}

Result<void> LifecycleRunner::run_once(const Lifecycle& lifecycle) {
  auto files = ask_for(kFetchTime, [&] { return fetch_(lifecycle.digest); });
  if (!files) return fail(files.error().code, "its files could not be fetched: {}", files.error().message);
  if (!lifecycle.folder.starts_with("/tmp/"))
    return fail(ErrorCode::kInvalid, "its folder {} is not below /tmp", lifecycle.folder);
  if (auto ok = check_inside(lifecycle.folder.substr(5)); !ok) return ok;
  if (auto ok = check_inside(lifecycle.script); !ok) return ok;
  const fs::path folder = at(lifecycle.folder);
  if (auto put = put_scripts(*files, folder, lifecycle.script); !put) return put;

  const auto started = std::chrono::steady_clock::now();
  const auto status = spawn_and_wait(lifecycle, folder);
  if (status && *status == 0) return {};
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started).count();
  const std::string what =
      status ? fmt::format("ended with {} after {} s", describe_status(*status), seconds) : status.error().message;
  const std::string tail = without_secrets(tail_of(at(kLifecycleLog), kTailBytes));
  return fail(status ? ErrorCode::kUnavailable : status.error().code, "{}; the end of {} on the machine:\n{}", what,
              kLifecycleLog, tail);
}

Result<int> LifecycleRunner::spawn_and_wait(const Lifecycle& lifecycle, const fs::path& folder) {
  if (auto made = put_folder(at(kLifecycleLog).parent_path()); !made) return tl::unexpected(made.error());
  const UniqueFd log(open(at(kLifecycleLog).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (!log) return fail(ErrorCode::kUnavailable, "cannot write {}", kLifecycleLog);
  dprintf(log.get(), "--- %s: %s\n", std::string(enum_name(lifecycle.hook)).c_str(), lifecycle.script.c_str());

  ProcessSpec process{
      .argv = command_of(folder / lifecycle.script),
      .environment = {"HOME=/root", "USER=root", "LOGNAME=root", "LANG=C.UTF-8",
                      fmt::format("SAGEMAKER_RESOURCE_CONFIG_PATH={}/resource_config.json", kConfigFolder)},
      .user = {},
      .output = log.get(),
      .errors = log.get(),
      .folder = folder};
  for (const auto& [name, value] : lifecycle.environment) process.environment.push_back(name + "=" + value);
  auto pid = processes_.spawn(process);
  if (!pid) return tl::unexpected(pid.error());
  const auto status = processes_.wait(*pid, lifecycle.time_limit);
  if (status && *status == 0) return 0;  // what it left running is to run
  if (!status) {
    kill(-*pid, SIGTERM);
    processes_.wait(*pid, kGrace);
  }
  kill(-*pid, SIGKILL);
  if (status) return *status;
  processes_.wait(*pid, Millis(1000));
  return fail(ErrorCode::kTimeout, "was killed after its time limit of {} s", lifecycle.time_limit.count() / 1000);
}

}  // namespace espalier::agent
