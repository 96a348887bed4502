#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/argv.h"
#include "base/unique_fd.h"

extern char** environ;

namespace espalier {

namespace {

using Steady = std::chrono::steady_clock;

// One of the program's output streams: what it wrote so far, and our end of the pipe.
struct Stream {
  UniqueFd ours, theirs;
  std::string text;

  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    ours = UniqueFd(ends[0]);
    theirs = UniqueFd(ends[1]);
    return fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
  }
  // Takes what is there now, without waiting. False when it is more than `limit` in all.
  bool drain(std::size_t limit) {
    std::array<char, 16384> piece{};
    while (ours) {
      const ssize_t n = read(ours.get(), piece.data(), piece.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) break;  // EAGAIN: nothing more now
      if (n == 0) ours.reset();
      text.append(piece.data(), static_cast<std::size_t>(n));
      if (text.size() > limit) return false;
    }
    return true;
  }
};

// A file in memory, not a pipe: nothing to feed while it runs, no SIGPIPE when it does not read.
UniqueFd file_with(const std::string& text) {
  UniqueFd file(memfd_create("stdin", MFD_CLOEXEC));
  for (std::size_t done = 0; file && done < text.size();) {
    const ssize_t n = write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return {};
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  if (file) lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::vector<std::string> environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!changes.contains(std::string(text.substr(0, text.find('='))))) out.emplace_back(text);
  }
  for (const auto& [name, value] : changes) out.push_back(name + "=" + value);
  return out;
}

// posix_spawn's two option objects, with the settings that every program of ours gets: a process group of its own, so
// that all of it can be killed, and no signal mask or ignored SIGPIPE of ours.
class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  void connect(int fd, int as) { posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  void change_folder(const std::filesystem::path& to) { posix_spawn_file_actions_addchdir_np(&actions_, to.c_str()); }
  int spawn(pid_t& pid, char** argv, char** env) {
    return posix_spawnp(&pid, argv[0], &actions_, &attributes_, argv, env);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<pid_t> start(std::vector<std::string> argv, const RunOptions& options, int in, const Stream& out,
                    const Stream& err) {
  SpawnSettings settings;
  settings.connect(in, STDIN_FILENO);
  settings.connect(out.theirs.get(), STDOUT_FILENO);
  settings.connect(err.theirs.get(), STDERR_FILENO);
  if (!options.cwd.empty()) settings.change_folder(options.cwd);
  std::vector<std::string> env = environment(options.env);
  pid_t pid = 0;
  const int error = settings.spawn(pid, pointers(argv).data(), pointers(env).data());
  if (error == 0) return pid;
  const ErrorCode code = error == ENOENT                     ? ErrorCode::kNotFound
                         : error == EACCES || error == EPERM ? ErrorCode::kPermission
                                                             : ErrorCode::kUnavailable;
  const std::string where = options.cwd.empty() ? "" : " in " + options.cwd.string();
  return fail(code, "cannot start {}{}: {}", argv[0], where, std::strerror(error));
}

// Why the program had to be killed, or nothing when it ended by itself.
Result<void> follow(const std::string& name, int pidfd, Stream& out, Stream& err, const RunOptions& options) {
  const auto deadline = Steady::now() + options.timeout;
  while (true) {
    // poll() skips negative descriptors: that of a stream that has ended.
    std::array<pollfd, 3> ready{{{pidfd, POLLIN, 0}, {out.ours.get(), POLLIN, 0}, {err.ours.get(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<Millis>(deadline - Steady::now());
    if (left.count() <= 0)
      return fail(ErrorCode::kTimeout, "{} did not end within {} ms and was killed", name, options.timeout.count());
    if (poll(ready.data(), ready.size(), static_cast<int>(std::min<Millis::rep>(left.count(), 3'600'000))) < 0)
      continue;
    if (!out.drain(options.output_limit) || !err.drain(options.output_limit))
      return fail(ErrorCode::kLimit, "{} wrote more than {} bytes and was killed", name, options.output_limit);
    if (ready[0].revents != 0) return {};
  }
}

}  // namespace

Result<RunResult> run(const std::vector<std::string>& argv, const RunOptions& options) {
  if (argv.empty()) return fail(ErrorCode::kInvalid, "cannot run an empty command");
  Stream out, err;
  UniqueFd in = file_with(options.input);
  if (!in || !out.open() || !err.open())
    return fail(ErrorCode::kUnavailable, "cannot make pipes for {}: {}", argv[0], std::strerror(errno));
  const auto pid = start(argv, options, in.get(), out, err);
  if (!pid) return tl::unexpected(pid.error());
  out.theirs.reset();
  err.theirs.reset();

  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  auto ended = pidfd ? follow(argv[0], pidfd.get(), out, err, options)
                     : fail(ErrorCode::kUnavailable, "cannot watch {}: {}", argv[0], std::strerror(errno));
  if (!ended) kill(-*pid, SIGKILL);
  const int status = wait_for(*pid);
  if (!ended) return tl::unexpected(ended.error());
  return RunResult{status, std::move(out.text), std::move(err.text)};
}

}  // namespace espalier
