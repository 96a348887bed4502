#include "agent/notify_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace espalier::agent {

Notification parse_notification(std::string_view datagram) {
  Notification out;
  while (!datagram.empty()) {
    const auto end = std::min(datagram.find('\n'), datagram.size());
    std::string_view line = datagram.substr(0, end);
    datagram.remove_prefix(std::min(end + 1, datagram.size()));
    constexpr std::string_view kMainPid = "MAINPID=";
    if (line == "READY=1") out.ready = true;
    if (!line.starts_with(kMainPid)) continue;
    line.remove_prefix(kMainPid.size());
    pid_t pid = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
    if (error == std::errc() && rest == line.data() + line.size() && pid > 1) out.main_pid = pid;
  }
  return out;
}

Result<NotifySocket> NotifySocket::open(const std::filesystem::path& path, const Account& sender) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path)
    return fail(ErrorCode::kInvalid, "{} is too long for a socket", path.string());
  std::strcpy(address.sun_path, path.c_str());
  unlink(path.c_str());
  NotifySocket made(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.fd_ || bind(made.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0600) != 0 || chown(path.c_str(), sender.uid, sender.gid) != 0)
    return fail(ErrorCode::kUnavailable, "cannot listen on {}: {}", path.string(), std::strerror(errno));
  return made;
}

std::optional<Notification> NotifySocket::receive() {
  char buffer[4096];
  const ssize_t n = recv(fd(), buffer, sizeof buffer, 0);
  if (n <= 0) return std::nullopt;
  return parse_notification({buffer, static_cast<std::size_t>(n)});
}

}  // namespace espalier::agent
