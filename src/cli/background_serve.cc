#include "cli/background_serve.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "machine/process.h"

namespace espalier::cli {

namespace {

constexpr Millis kStartTimeout{30'000};
constexpr Millis kStopTimeout{60'000};
constexpr Millis kStep{20};
constexpr std::size_t kLogTail = 2000;

std::filesystem::path record_file(const std::string& state) { return std::filesystem::path(state) / "serve.json"; }
std::filesystem::path log_file(const std::string& state) { return std::filesystem::path(state) / "serve.log"; }

// What to do in the child between fork and exec: no input, output to the log, a session of its own.
class SpawnPlan {
 public:
  explicit SpawnPlan(const std::string& log) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0640);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  Result<pid_t> spawn(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, argv[0], &actions_, &attributes_, argv.data(), environ);
    if (error != 0) return fail(ErrorCode::kInternal, "Cannot start {}: {}", arguments[0], std::strerror(error));
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

Result<pid_t> spawn_serve(const std::string& program, const ServeOptions& options) {
  if (auto ok = make_folder(options.state); !ok) return tl::unexpected(ok.error());
  std::vector<std::string> arguments{program, "serve"};
  for (auto& argument : to_arguments(options)) arguments.push_back(std::move(argument));
  return SpawnPlan(log_file(options.state)).spawn(arguments);
}

std::string log_tail(const std::string& state) {
  const std::string text = read_file(log_file(state)).value_or("");
  return text.substr(text.size() - std::min(text.size(), kLogTail));
}

bool has_ended(pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == pid; }

Result<wire::Service> await_answer(Context& context, pid_t pid, const std::string& state) {
  const Time deadline = context.clock.now() + kStartTimeout;
  while (context.clock.now() < deadline) {
    if (auto service = describe_service(context)) return service;
    if (has_ended(pid))
      return fail(ErrorCode::kInternal, "The control plane did not start. Its last words in {}:\n{}",
                  log_file(state).string(), log_tail(state));
    context.pause(kStep);
  }
  return fail(ErrorCode::kTimeout, "The control plane (process {}) does not answer at {} after {} s: see {}", pid,
              context.service.endpoint(), kStartTimeout.count() / 1000, log_file(state).string());
}

// Reads the record and opens its process; a record of an ended process is removed.
std::optional<UniqueFd> open_recorded(const std::string& state) {
  const auto record = machine::load_process(record_file(state));
  if (!record) return std::nullopt;
  auto process = machine::open_process(*record);
  if (!process) std::filesystem::remove(record_file(state));
  return process;
}

}  // namespace

Result<wire::Service> describe_service(Context& context) {
  return read_answer<wire::Service>(context.service.call("Espalier.DescribeService", {}));
}

Result<void> check_state(const Context& context, const wire::Service& service, const std::string& state) {
  namespace fs = std::filesystem;
  std::error_code unreadable;
  const auto folder = [&](const std::string& path) { return fs::weakly_canonical(path, unreadable); };
  if (service.StateFolder.empty() || folder(service.StateFolder) == folder(state)) return {};
  return fail(ErrorCode::kConflict,
              "The control plane at {} keeps its state in {}, not in {}: nothing was done. Give --state {} if that one "
              "is meant, or --endpoint for another one",
              context.service.endpoint(), service.StateFolder, state, service.StateFolder);
}

Result<wire::Service> start_serve(Context& context, const std::string& program, const ServeOptions& options) {
  const auto pid = spawn_serve(program, options);
  if (!pid) return tl::unexpected(pid.error());
  if (const auto record = machine::record_of(*pid))
    if (auto ok = write_file(record_file(options.state), pretty_json(to_json(*record)) + "\n"); !ok)
      return tl::unexpected(ok.error());
  auto service = await_answer(context, *pid, options.state);
  if (!service && service.error().code == ErrorCode::kInternal) std::filesystem::remove(record_file(options.state));
  return service;
}

Result<bool> stop_serve(const std::string& state) {
  const auto process = open_recorded(state);
  if (!process) return false;
  if (syscall(SYS_pidfd_send_signal, process->get(), SIGTERM, nullptr, 0) != 0)
    return fail(ErrorCode::kPermission, "Cannot stop the control plane of {}: {}", state, std::strerror(errno));
  pollfd ended{process->get(), POLLIN, 0};
  if (poll(&ended, 1, static_cast<int>(kStopTimeout.count())) != 1)
    return fail(ErrorCode::kTimeout, "The control plane of {} was told to stop and still runs: see {}", state,
                log_file(state).string());
  std::filesystem::remove(record_file(state));
  return true;
}

}  // namespace espalier::cli
