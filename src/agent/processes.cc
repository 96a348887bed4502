#include "agent/processes.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/socket.h"
#include "base/argv.h"
#include "base/unique_fd.h"

namespace espalier::agent {

namespace {

// In the child, between fork and exec: only calls that are safe there. Plain system calls for the ids, because
// glibc's wrappers would talk to threads that do not exist in the child.
[[noreturn]] void become(const char* program, char* const* argv, char* const* envp, const ProcessSpec& spec) {
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO);
  dup2(spec.output >= 0 ? spec.output : nowhere, STDOUT_FILENO);
  dup2(spec.errors >= 0 ? spec.errors : nowhere, STDERR_FILENO);
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);  // what whoever started us left open
  if (chdir(spec.folder.c_str()) != 0) _exit(126);
  if (spec.user.uid != getuid() && (syscall(SYS_setgroups, 0, nullptr) != 0 ||
                                    syscall(SYS_setgid, spec.user.gid) != 0 || syscall(SYS_setuid, spec.user.uid) != 0))
    _exit(126);
  execve(program, argv, envp);
  _exit(127);
}

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Reads both to their ends. kTimeout, or kLimit when it is too much.
Result<void> drain(const Pipe& output, std::string& out, const Pipe& errors, std::string& err, Deadline deadline) {
  pollfd polled[] = {{output.read_end.get(), POLLIN, 0}, {errors.read_end.get(), POLLIN, 0}};
  std::string* texts[] = {&out, &err};
  char buffer[65536];
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    const int n = poll(polled, 2, milliseconds_until(deadline));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(ErrorCode::kTimeout, "no end in time");
    for (int i = 0; i < 2; ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      const ssize_t got = read(polled[i].fd, buffer, sizeof buffer);
      if (got <= 0) polled[i].fd = -1;
      if (got > 0) texts[i]->append(buffer, static_cast<std::size_t>(got));
      if (texts[i]->size() > kMaxOutputBytes) return fail(ErrorCode::kLimit, "too much output");
    }
  }
  return {};
}

std::string joined(const std::vector<std::string>& argv) {
  std::string out;
  for (const auto& word : argv) out += (out.empty() ? "" : " ") + word;
  return out.size() > 300 ? out.substr(0, 300) + "…" : out;
}

std::string last_of(const std::string& text) {
  const auto end = text.find_last_not_of(" \n");
  const std::string whole = text.substr(0, end == std::string::npos ? 0 : end + 1);
  return whole.size() > 1000 ? whole.substr(whole.size() - 1000) : whole;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name, const std::filesystem::path& root) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  std::string_view rest = kProgramPath;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const auto path = root / std::filesystem::path(rest.substr(0, end)).relative_path() / name;
    if (access(path.c_str(), X_OK) == 0) return path.string();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("status {}", WEXITSTATUS(status));
}

Processes::Processes() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &child, nullptr);
  if (getpid() != 1) prctl(PR_SET_CHILD_SUBREAPER, 1);
  reaper_ = std::jthread([this](const std::stop_token& stop) { reap_until_stopped(stop); });
}

Processes::~Processes() {
  reaper_.request_stop();
  pthread_kill(reaper_.native_handle(), SIGCHLD);
}

void Processes::reap_until_stopped(const std::stop_token& stop) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  while (!stop.stop_requested()) {
    {
      const std::lock_guard lock(mutex_);
      int status = 0;
      for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (const auto found = awaited_.find(pid); found != awaited_.end()) found->second = status;
    }
    ended_.notify_all();
    int signal = 0;
    sigwait(&child, &signal);
  }
}

Result<pid_t> Processes::spawn(const ProcessSpec& spec) {
  const auto program = find_program(spec.argv.at(0));
  if (!program) return fail(ErrorCode::kNotFound, "there is no program '{}': the image lacks it", spec.argv[0]);
  std::vector<std::string> environment = spec.environment;
  environment.push_back(std::string("PATH=") + kProgramPath);
  if (std::ranges::none_of(environment, [](const auto& text) { return text.starts_with("HOME="); }))
    environment.push_back("HOME=/");
  // By its whole path: a daemon that is to take a new configuration may execute its argv[0] again.
  std::vector<std::string> arguments = spec.argv;
  arguments[0] = *program;
  const auto argv = pointers(arguments);
  const auto envp = pointers(environment);

  // Held across fork, so that the reaper cannot see its end before it is known here.
  const std::lock_guard lock(mutex_);
  const pid_t pid = fork();
  if (pid == 0) become(program->c_str(), argv.data(), envp.data(), spec);
  if (pid < 0) return fail(ErrorCode::kUnavailable, "cannot start {}: {}", spec.argv[0], std::strerror(errno));
  awaited_[pid] = std::nullopt;
  return pid;
}

void Processes::adopt(pid_t pid) {
  const std::lock_guard lock(mutex_);
  awaited_.try_emplace(pid);
}

void Processes::forget(pid_t pid) {
  const std::lock_guard lock(mutex_);
  awaited_.erase(pid);
}

std::optional<int> Processes::wait(pid_t pid, Millis timeout) {
  std::unique_lock lock(mutex_);
  const auto ended = [&] {
    const auto found = awaited_.find(pid);
    return found == awaited_.end() || found->second.has_value();
  };
  if (!ended_.wait_for(lock, timeout, ended)) return std::nullopt;
  const auto found = awaited_.extract(pid);
  return found ? found.mapped() : std::nullopt;
}

Result<std::string> Processes::run(const std::vector<std::string>& argv, Millis timeout) {
  const Deadline deadline = in(timeout);
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  auto pid = spawn({.argv = argv,
                    .environment = {},
                    .user = {},
                    .output = output.write_end.get(),
                    .errors = errors.write_end.get()});
  if (!pid) return tl::unexpected(pid.error());
  output.write_end.reset();
  errors.write_end.reset();

  std::string out;
  std::string err;
  auto drained = drain(output, out, errors, err, deadline);
  if (!drained) kill(-*pid, SIGKILL);
  const auto status = wait(*pid, Millis(milliseconds_until(deadline) + 1000));
  if (!drained || !status) {
    if (drained) kill(-*pid, SIGKILL);
    return fail(drained ? ErrorCode::kTimeout : drained.error().code, "{}: {} ({} ms)", joined(argv),
                drained ? "no end in time" : drained.error().message, timeout.count());
  }
  if (*status == 0) return out;
  return fail(ErrorCode::kUnavailable, "{}: {}: {}", joined(argv), describe_status(*status),
              last_of(err.empty() ? out : err));
}

}  // namespace espalier::agent
