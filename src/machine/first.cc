#include "machine/first.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/unique_fd.h"
#include "machine/netlink.h"
#include "machine/root.h"

namespace espalier::machine {

namespace {

// No trace of the launcher: its session, signals, files and environment stay behind.
Result<void> start_afresh(const std::filesystem::path& folder) {
  setsid();
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd log(open((folder / kLogFile).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!nothing || !log || dup2(nothing.get(), 0) < 0 || dup2(log.get(), 1) < 0 || dup2(log.get(), 2) < 0)
    return fail(ErrorCode::kUnavailable, "cannot open {}: {}", (folder / kLogFile).string(), std::strerror(errno));
  syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  return {};
}

// A setting of this network namespace. A kernel without it is served as it is.
void set_network(const char* name, std::string_view value) {
  const UniqueFd setting(open((std::string("/proc/sys/net/") + name).c_str(), O_WRONLY | O_CLOEXEC));
  if (setting) [[maybe_unused]]
    const ssize_t written = write(setting.get(), value.data(), value.size());
}

Result<void> join_network(const MachineSpec& spec) {
  auto net = Netlink::open();
  if (!net) return tl::unexpected(net.error());
  // The bridge knows IPv4 only: without IPv6 there are no solicitations from every machine to every other.
  set_network("ipv6/conf/all/disable_ipv6", "1");
  const auto cable = net->find("eth0");
  if (!cable) return tl::unexpected(cable.error());
  // The bridge may not forward yet when the agent first asks for its neighbour: it asks again soon, not after a second.
  set_network("ipv4/neigh/eth0/retrans_time_ms", "20");
  set_network("ipv4/neigh/eth0/mcast_solicit", "50");
  return net->bring_up("lo")
      .and_then([&] { return net->add_address(*cable, spec.address, spec.prefix); })
      .and_then([&] { return net->bring_up("eth0"); })
      .and_then([&] { return net->add_default_route(*cable, spec.gateway); });
}

Result<void> await_go(int go) {
  char byte = 0;
  ssize_t got = 0;
  while ((got = read(go, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got == 1) return {};
  return fail(ErrorCode::kUnavailable, "the builder has ended");
}

Result<void> become_agent() {
  std::array<const char*, 5> argv{"espalier-agent", "run", "--user-data", kUserDataInside, nullptr};
  std::array<char*, 1> environment{nullptr};
  execve(kAgentInside, const_cast<char* const*>(argv.data()), environment.data());
  return fail(ErrorCode::kUnavailable, "cannot start the agent: {}", std::strerror(errno));
}

}  // namespace

void run_first(const MachineSpec& spec, const std::filesystem::path& folder, const std::filesystem::path& agent,
               const FirstPipes& pipes) {
  // The mounts do not need the cable: they are made while the builder lays it.
  const auto failed = start_afresh(folder)
                          .and_then([&] { return enter_root(spec, folder, agent); })
                          .and_then([&] { return await_go(pipes.go); })
                          .and_then([&] { return join_network(spec); })
                          .and_then(become_agent);
  const std::string& why = failed.error().message;
  [[maybe_unused]] const ssize_t written = write(pipes.failure, why.data(), why.size());
  _exit(1);
}

}  // namespace espalier::machine
