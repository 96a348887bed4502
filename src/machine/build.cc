#include "machine/build.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "machine/first.h"
#include "machine/netlink.h"

namespace espalier::machine {

namespace fs = std::filesystem;

namespace {

constexpr Millis kTearDownTime{10'000};
constexpr Millis kShutdownTime{15'000};  // for the agent to end its daemons; what runs on is killed
constexpr int kNewNamespaces = CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;

struct Pipe {
  UniqueFd reader, writer;
};
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) == 0) return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  return fail(ErrorCode::kUnavailable, "cannot make a pipe: {}", std::strerror(errno));
}

// The work folder is always new: an overlay mounted volatile refuses one that a machine ended in. What the machine
// wrote is in `upper`, whole as long as this kernel runs.
Result<void> fresh_folders(const fs::path& folder, std::initializer_list<const char*> names) {
  std::error_code ec;
  for (const char* name : names) fs::remove_all(folder / name, ec);
  for (const char* name : {"upper", "work", "root"})
    if (auto ok = make_folder(folder / name); !ok) return ok;
  return {};
}

// Like fork, but the child is the first process of new namespaces.
int clone_first() { return static_cast<int>(syscall(SYS_clone, kNewNamespaces | SIGCHLD, 0, nullptr, nullptr, 0)); }

Result<void> lay_cable(const MachineSpec& spec, int pid) {
  auto net = Netlink::open();
  if (!net) return tl::unexpected(net.error());
  const auto bridge = net->find(spec.bridge);
  if (!bridge) return tl::unexpected(bridge.error());
  return net->add_cable(spec.link, *bridge, pid, spec.address);
}

Result<void> record_first(const fs::path& folder, int pid) {
  return record_of(pid).and_then(
      [&](const ProcessRecord& record) { return save_record(folder / kPid1File, to_json(record)); });
}

// What the first process says before it ends; nothing when it became the agent.
std::string read_failure(int reader) {
  std::string text;
  std::array<char, 512> piece{};
  ssize_t got = 0;
  while ((got = read(reader, piece.data(), piece.size())) > 0 || (got < 0 && errno == EINTR))
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  return text;
}

// The last line that the first process wrote, for its own error says more than its end.
std::string last_words(const fs::path& folder) {
  std::string log = read_file(folder / kLogFile).value_or("");
  while (!log.empty() && log.back() == '\n') log.pop_back();
  return log.substr(log.rfind('\n') + 1);
}

Result<void> start_first(const MachineSpec& spec, const fs::path& folder, const fs::path& agent) {
  auto go = make_pipe();
  auto failure = make_pipe();
  if (!go || !failure) return tl::unexpected((go ? failure : go).error());
  const int pid = clone_first();
  if (pid < 0) return fail(ErrorCode::kUnavailable, "cannot make namespaces: {}", std::strerror(errno));
  if (pid == 0) {
    // Without these the end of the builder would go unnoticed: the first process would hold its own pipe open.
    go->writer.reset();
    failure->reader.reset();
    run_first(spec, folder, agent, {go->reader.get(), failure->writer.get()});
  }
  failure->writer.reset();
  auto ok = lay_cable(spec, pid).and_then([&] { return record_first(folder, pid); });
  if (ok) [[maybe_unused]]
    const ssize_t written = write(go->writer.get(), "g", 1);
  go->writer.reset();
  const std::string why = read_failure(failure->reader.get());
  if (ok && why.empty() && record_of(pid)) return {};
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!ok) return ok;
  if (!why.empty()) return fail(ErrorCode::kUnavailable, "{}", why);
  return fail(ErrorCode::kUnavailable, "its first process ended at once: {}", last_words(folder));
}

}  // namespace

State state(const fs::path& folder) {
  const auto record = load_process(folder / kPid1File);
  if (!record) return {};
  return {open_process(*record) ? Phase::kRuns : Phase::kEnded, *record};
}

Result<void> tear_down(const fs::path& folder, const MachineSpec& spec, Millis timeout) {
  if (const auto record = load_process(folder / kPid1File))
    if (auto ended = kill_process(*record, timeout); !ended) return ended;
  // The kernel takes the cable away with the namespace, but later: a new machine may want the address now.
  return Netlink::open().and_then([&](Netlink&& net) { return net.remove(spec.link); });
}

Result<UniqueFd> lock_folder(const fs::path& folder, Millis timeout) {
  UniqueFd lock(open((folder / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return fail(ErrorCode::kNotFound, "cannot lock {}: {}", folder.string(), std::strerror(errno));
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= end)
      return fail(ErrorCode::kTimeout, "{} is still being built or destroyed by another process", folder.string());
    std::this_thread::sleep_for(Millis(2));
  }
  return lock;
}

Result<void> build(const fs::path& folder, const fs::path& agent) {
  const auto spec = load_spec(folder);
  if (!spec) return tl::unexpected(spec.error());
  const auto lock = lock_folder(folder, kTearDownTime);
  if (!lock) return tl::unexpected(lock.error());
  if (state(folder).phase == Phase::kRuns) return {};
  auto built = tear_down(folder, *spec, kTearDownTime)
                   .and_then([&] { return fresh_folders(folder, {"upper", "work", kPid1File}); })
                   .and_then([&] { return start_first(*spec, folder, agent); });
  if (built) return {};
  std::error_code ec;
  fs::remove(folder / kPid1File, ec);
  (void)tear_down(folder, *spec, kTearDownTime);
  return fail(built.error().code, "cannot build machine {}: {}", spec->id.str(), built.error().message);
}

Result<void> restart(const fs::path& folder, const fs::path& agent) {
  const auto spec = load_spec(folder);
  if (!spec) return tl::unexpected(spec.error());
  const auto lock = lock_folder(folder, kTearDownTime);
  if (!lock) return tl::unexpected(lock.error());
  const State before = state(folder);
  if (before.phase == Phase::kUnbuilt)
    return fail(ErrorCode::kConflict, "machine {} was never complete: it cannot be rebooted", spec->id.str());
  if (before.phase == Phase::kRuns) (void)end_process(*before.pid1, SIGTERM, kShutdownTime);
  return tear_down(folder, *spec, kTearDownTime)
      .and_then([&] { return fresh_folders(folder, {"work"}); })
      .and_then([&] { return start_first(*spec, folder, agent); })
      .map_error([&](const Error& e) {
        return Error{e.code, fmt::format("cannot reboot machine {}: {}", spec->id.str(), e.message)};
      });
}

int build_main(int argc, char** argv) {
  const bool again = argc == 3 && argv[1] == std::string_view("restart");
  if (argc != 3) {
    std::fputs("usage: espalier-agent build|restart MACHINE_FOLDER\n", stderr);
    return 2;
  }
  std::error_code ec;
  const fs::path self = fs::read_symlink("/proc/self/exe", ec);
  const auto built = (again ? restart : build)(fs::absolute(argv[2]), self);
  if (built) return 0;
  std::fprintf(stderr, "%s\n", built.error().message.c_str());
  return 1;
}

}  // namespace espalier::machine
