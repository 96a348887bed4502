#include "agent/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "agent/backoff.h"
#include "agent/files.h"
#include "agent/notify_socket.h"
#include "agent/slurm_text.h"
#include "base/log.h"

namespace espalier::agent {

namespace {

constexpr Millis kFirstPause{100};
constexpr Millis kLongestPause{10'000};
constexpr std::chrono::seconds kStable{30};  // a daemon that ran so long starts with short pauses again
constexpr Millis kSocketLook{5};
constexpr std::size_t kLastWordsBytes = 1000;

// Becomes readable when the process has ended; empty when it is gone already.
UniqueFd watch_end_of(pid_t pid) { return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

bool is_readable(int fd, Millis timeout) {
  pollfd wait{fd, POLLIN, 0};
  return poll(&wait, 1, static_cast<int>(timeout.count())) > 0;
}

bool takes_connections(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Daemon::Daemon(DaemonSpec spec, Processes& processes, std::function<void()> changed)
    : spec_(std::move(spec)), processes_(processes), changed_(std::move(changed)), stop_fd_(eventfd(0, EFD_CLOEXEC)) {
  int ends[2] = {-1, -1};
  if (spec_.log.empty() && pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    output_read_ = UniqueFd(ends[0]);
    output_write_ = UniqueFd(ends[1]);
  }
  thread_ = std::jthread([this] { supervise(); });
}

Daemon::~Daemon() {
  eventfd_write(stop_fd_.get(), 1);
  thread_.join();
}

DaemonView Daemon::view() const {
  const std::lock_guard lock(mutex_);
  return {spec_.name, running_, message_};
}

Result<void> Daemon::await_ready(Millis timeout) {
  std::unique_lock lock(mutex_);
  const int hopeless = deaths_ + kHopelessDeaths;
  state_changed_.wait_for(lock, timeout, [&] { return running_ || deaths_ >= hopeless; });
  if (running_) return {};
  return fail(ErrorCode::kUnavailable, "{} does not become ready: {}", spec_.name, message_);
}

void Daemon::set(bool running, std::string message) {
  {
    const std::lock_guard lock(mutex_);
    if (running_ == running && message_ == message) return;
    running_ = running;
    message_ = std::move(message);
  }
  state_changed_.notify_all();
  changed_();
}

void Daemon::count_death() {
  {
    const std::lock_guard lock(mutex_);
    ++deaths_;
  }
  state_changed_.notify_all();
}

bool Daemon::pause(Millis time) const { return !is_readable(stop_fd_.get(), time); }

void Daemon::supervise() {
  auto notify = NotifySocket::open(spec_.notify_folder / (spec_.name + ".notify"), spec_.user);
  if (!notify) return set(false, notify.error().message);
  Backoff pauses(kFirstPause, kLongestPause, Random::from_system());
  do {
    if (!await_other_side()) return;
    const auto started = std::chrono::steady_clock::now();
    if (auto pid = start()) {
      if (follow(*pid, *notify) == End::kStopped) return;
    } else {
      set(false, pid.error().message);
    }
    count_death();
    if (std::chrono::steady_clock::now() - started > kStable) pauses.reset();
  } while (pause(pauses.next()));
}

bool Daemon::await_other_side() {
  if (!spec_.after) return true;
  Backoff pauses(Millis(20), Millis(1000), Random::from_system());
  for (;;) {
    auto connected = Socket::connect(*spec_.after, in(Millis(2000)));
    if (connected) return true;
    set(false, fmt::format("waiting for {}:{}", spec_.after->host, spec_.after->port));
    if (!pause(pauses.next())) return false;
  }
}

Result<pid_t> Daemon::start() {
  UniqueFd log;
  if (!spec_.log.empty()) log = UniqueFd(open(spec_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  const int output = spec_.log.empty() ? output_write_.get() : log.get();
  ProcessSpec process{.argv = spec_.argv, .environment = {}, .user = spec_.user, .output = output, .errors = output};
  if (spec_.socket.empty())
    process.environment.push_back(fmt::format("NOTIFY_SOCKET={}/{}.notify", spec_.notify_folder.string(), spec_.name));
  auto pid = processes_.spawn(process);
  if (pid) log::info("{} started as {}", spec_.name, *pid);
  return pid;
}

// Returns when the daemon has died or was ended. A reconfigure of Slurm's daemons starts a successor, names it by
// MAINPID and ends: notifications are therefore read before an end is believed.
bool Daemon::send(int signal) {
  const std::lock_guard lock(mutex_);
  return pid_ > 0 && kill(pid_, signal) == 0;
}

void Daemon::set_pid(pid_t pid) {
  const std::lock_guard lock(mutex_);
  pid_ = pid;
}

Daemon::End Daemon::follow(pid_t pid, NotifySocket& notify) {
  set_pid(pid);
  UniqueFd process = watch_end_of(pid);
  bool ready = false;
  for (;;) {
    pollfd polled[] = {{stop_fd_.get(), POLLIN, 0},
                       {notify.fd(), POLLIN, 0},
                       {process.get(), POLLIN, 0},
                       {output_read_.get(), POLLIN, 0}};
    if (process) poll(polled, 4, ready || spec_.socket.empty() ? -1 : static_cast<int>(kSocketLook.count()));
    listen();
    while (const auto said = notify.receive()) {
      ready = ready || said->ready;
      if (!said->main_pid || *said->main_pid == pid) continue;
      log::info("{} goes on as {}", spec_.name, *said->main_pid);
      processes_.adopt(*said->main_pid);
      processes_.forget(pid);
      pid = *said->main_pid;
      set_pid(pid);
      process = watch_end_of(pid);
      polled[2].revents = 0;
    }
    if (polled[0].revents != 0) {
      end(pid);
      return End::kStopped;
    }
    if (polled[2].revents != 0 || !process) {
      set(false, cause(processes_.wait(pid, Millis(1000))));
      log::warn("{}", view().message);
      return End::kDied;
    }
    if (!ready && !spec_.socket.empty()) ready = takes_connections(spec_.socket);
    if (ready) set(true, "");
  }
}

void Daemon::end(pid_t pid) {
  kill(pid, SIGTERM);
  if (processes_.wait(pid, kGrace)) return;
  log::warn("{} does not end: killed", spec_.name);
  kill(pid, SIGKILL);
  processes_.wait(pid, Millis(1000));
}

void Daemon::listen() {
  char buffer[4096];
  for (ssize_t n = 0; output_read_ && (n = read(output_read_.get(), buffer, sizeof buffer)) > 0;) {
    last_words_.append(buffer, static_cast<std::size_t>(n));
    if (last_words_.size() > kLastWordsBytes) last_words_.erase(0, last_words_.size() - kLastWordsBytes);
  }
}

std::string Daemon::cause(std::optional<int> status) {
  const std::string words = spec_.log.empty() ? std::exchange(last_words_, "") : tail_of(spec_.log, kLastWordsBytes);
  const std::string causes = causes_in(words);
  return fmt::format("{} ended with {}; its last words: {}", spec_.name,
                     status ? describe_status(*status) : "no status", causes.empty() ? words : causes);
}

}  // namespace espalier::agent
