#include "machine/session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <optional>

#include "base/unique_fd.h"

namespace espalier::machine {

namespace {

constexpr int kCannotStart = 126;
constexpr int kLastWait = 1000;  // ms
constexpr unsigned kTtyGroup = 5;

// Our terminal, in raw mode for as long as this lives: what is typed is the other one's to interpret.
class RawTerminal {
 public:
  RawTerminal() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    cfmakeraw(&raw);
    changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~RawTerminal() {
    if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

struct Terminal {
  UniqueFd master, slave;
};

Terminal open_terminal(unsigned owner) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return {};
  Terminal terminal;
  terminal.master = UniqueFd(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  int locked = 0;
  if (!terminal.master || ioctl(terminal.master.get(), TIOCSPTLCK, &locked) != 0) return {};
  terminal.slave = UniqueFd(ioctl(terminal.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.slave) return {};
  if (fchown(terminal.slave.get(), owner, kTtyGroup) != 0 || fchmod(terminal.slave.get(), 0620) != 0) return {};
  return terminal;
}

void copy_size(int terminal) {
  winsize size{};
  if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) ioctl(terminal, TIOCSWINSZ, &size);
}

// False at the end of what is read.
bool pass_on(int from, int to) {
  char buffer[16384];
  const ssize_t got = read(from, buffer, sizeof buffer);
  if (got <= 0) return got < 0 && (errno == EINTR || errno == EAGAIN);
  for (ssize_t done = 0; done < got;) {
    const ssize_t written = write(to, buffer + done, static_cast<std::size_t>(got - done));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += written;
  }
  return true;
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

void become_session(const Terminal& terminal, pid_t parent) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (getppid() != parent && getppid() != 0) _exit(kCannotStart);  // 0: the parent is outside of this PID namespace
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  if (!terminal.slave) return;
  ioctl(terminal.slave.get(), TIOCSCTTY, 0);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (isatty(fd) != 0) dup2(terminal.slave.get(), fd);
}

// The child from our side.
class Session {
 public:
  Session(pid_t pid, const Terminal& terminal, int signals)
      : pid_(pid), master_(terminal.master.get()), signals_(signals) {}

  int wait() {
    pollfd polled[] = {{signals_, POLLIN, 0}, {master_, POLLIN, 0}, {master_ < 0 ? -1 : STDIN_FILENO, POLLIN, 0}};
    for (;;) {
      if (poll(polled, 3, -1) < 0 && errno != EINTR) return kCannotStart;
      if (polled[1].revents != 0 && !pass_on(master_, STDOUT_FILENO)) polled[1].fd = -1;
      if (polled[2].revents != 0 && !pass_on(STDIN_FILENO, master_)) polled[2].fd = -1;
      if (polled[0].revents == 0) continue;
      if (const auto status = take_signal()) return finish(*status);
    }
  }

 private:
  // Its status, once it has ended.
  std::optional<int> take_signal() {
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) != sizeof info) return {};
    switch (info.ssi_signo) {
      case SIGCHLD:
        return ended();
      case SIGWINCH:
        copy_size(master_);
        return {};
      case SIGUSR1:  // our parent has ended
        kill(-pid_, SIGHUP);
        poll(nullptr, 0, kLastWait);
        kill(-pid_, SIGKILL);
        return ended();
      default:
        kill(-pid_, static_cast<int>(info.ssi_signo));
        return {};
    }
  }
  [[nodiscard]] std::optional<int> ended() const {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return {};
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // What it wrote last may still be in the terminal.
  int finish(int status) const {
    pollfd rest{master_, POLLIN, 0};
    while (master_ >= 0 && poll(&rest, 1, 0) > 0 && (rest.revents & POLLIN) != 0 && pass_on(master_, STDOUT_FILENO)) {
    }
    return status;
  }

  const pid_t pid_;
  const int master_;
  const int signals_;
};

}  // namespace

int run_session(const std::function<void()>& child, unsigned owner) {
  const sigset_t ours = set_of({SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH, SIGUSR1});
  sigprocmask(SIG_BLOCK, &ours, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
  const UniqueFd signals(signalfd(-1, &ours, SFD_CLOEXEC));
  Terminal terminal = open_terminal(owner);
  if (terminal.master) copy_size(terminal.master.get());
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    become_session(terminal, self);
    child();
    _exit(kCannotStart);
  }
  if (pid < 0) return kCannotStart;
  terminal.slave.reset();  // so that the end of its last user is the end of the terminal
  std::optional<RawTerminal> raw;
  if (terminal.master) raw.emplace();
  return Session(pid, terminal, signals.get()).wait();
}

}  // namespace espalier::machine
