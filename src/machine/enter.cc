#include "machine/enter.h"

#include <grp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/argv.h"
#include "base/file.h"
#include "machine/build.h"
#include "machine/session.h"

namespace espalier::machine {

namespace {

constexpr int kAllNamespaces = CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;
constexpr int kCannotStart = 126;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

unsigned number(const std::string& text) {
  unsigned value = 65534;  // nobody
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// /etc/environment: NAME=VALUE lines, as a login would read them.
void add_machine_environment(std::vector<std::string>& environment) {
  for (const std::string& line : split(read_file("/etc/environment").value_or(""), '\n'))
    if (!line.empty() && line[0] != '#' && line.find('=') != std::string::npos) environment.push_back(line);
}

std::vector<std::string> login_environment(const User& user) {
  std::vector<std::string> out{
      "HOME=" + user.home,   "USER=" + user.name, "LOGNAME=" + user.name,
      "SHELL=" + user.shell, "LANG=C.UTF-8",      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  if (const char* terminal = std::getenv("TERM")) out.push_back(std::string("TERM=") + terminal);
  add_machine_environment(out);
  return out;
}

std::vector<std::string> shell_arguments(const User& user, const std::vector<std::string>& words) {
  const std::string shell = user.shell.substr(user.shell.rfind('/') + 1);
  if (words.empty()) return {"-" + shell};
  std::string line;
  for (const std::string& word : words) line += line.empty() ? word : " " + word;
  return {shell, "-lc", line};
}

Result<void> become(const User& user) {
  const auto groups = groups_of(read_file("/etc/group").value_or(""), user.name);
  if (setgroups(groups.size(), groups.data()) != 0 || setgid(user.gid) != 0 || setuid(user.uid) != 0)
    return fail(ErrorCode::kPermission, "cannot become {}: {}", user.name, std::strerror(errno));
  if (chdir(user.home.c_str()) != 0 && chdir("/") != 0)
    return fail(ErrorCode::kUnavailable, "cannot enter {}: {}", user.home, std::strerror(errno));
  return {};
}

int complain(const Error& error) {
  std::fprintf(stderr, "espalier: %s\n", error.message.c_str());
  return kCannotStart;
}

// In the machine.
[[noreturn]] void run_shell(const User& user, const std::vector<std::string>& words) {
  auto environment = login_environment(user);
  auto argv = shell_arguments(user, words);
  if (auto ok = become(user); !ok) _exit(complain(ok.error()));
  execve(user.shell.c_str(), pointers(argv).data(), pointers(environment).data());
  _exit(complain({ErrorCode::kUnavailable, fmt::format("cannot start {}: {}", user.shell, std::strerror(errno))}));
}

// In a child: goes there, and stays between our caller and the shell.
int visit(int machine, const std::vector<std::string>& words, const std::string& name) {
  if (setns(machine, kAllNamespaces) != 0)
    return complain({ErrorCode::kPermission, fmt::format("cannot enter the machine: {}", std::strerror(errno))});
  const auto user = read_file("/etc/passwd").and_then([&](const std::string& text) { return find_user(text, name); });
  if (!user) return complain(user.error());
  return run_session([&] { run_shell(*user, words); }, user->uid);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return kCannotStart;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Calls `body` in a child, for the terminal's interrupts are its own business, and gives its exit status.
template <typename Body>
int in_child(Body body) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) _exit(body());
  const int status = child < 0 ? kCannotStart : wait_for(child);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGQUIT, SIG_DFL);
  return status;
}

}  // namespace

Result<User> find_user(const std::string& passwd, const std::string& name) {
  for (const std::string& line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 6 || fields[0] != name) continue;
    const std::string shell = fields.size() > 6 && !fields[6].empty() ? fields[6] : "/bin/sh";
    return User{name, number(fields[2]), number(fields[3]), fields[5], shell};
  }
  return fail(ErrorCode::kNotFound, "the machine has no user '{}'", name);
}

std::vector<unsigned> groups_of(const std::string& group_file, const std::string& name) {
  std::vector<unsigned> out;
  for (const std::string& line : split(group_file, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 4) continue;
    for (const std::string& member : split(fields[3], ','))
      if (member == name) out.push_back(number(fields[2]));
  }
  return out;
}

Result<int> enter(const std::filesystem::path& folder, const std::vector<std::string>& argv, const std::string& user) {
  const State now = state(folder);
  if (!std::filesystem::exists(folder / kSpecFile))
    return fail(ErrorCode::kNotFound, "there is no machine in {} on this host", folder.string());
  auto process = now.pid1 ? open_process(*now.pid1) : std::nullopt;
  if (!process) return fail(ErrorCode::kUnavailable, "the machine in {} does not run", folder.string());
  // A child goes into the namespaces, so that the caller stays where it is; its child is in the new PID namespace.
  return in_child([&] { return visit(process->get(), argv, user); });
}

}  // namespace espalier::machine
