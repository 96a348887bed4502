#include "agent/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace espalier::agent {

namespace {

// Whether `events` came before the deadline.
bool await(int fd, short events, Deadline deadline) {
  pollfd wait{fd, events, 0};
  int n = 0;
  do {
    n = poll(&wait, 1, milliseconds_until(deadline));
  } while (n < 0 && errno == EINTR);
  return n > 0;
}

}  // namespace

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

Result<Socket> Socket::connect(const Endpoint& endpoint, Deadline deadline) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  if (inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr) != 1)
    return fail(ErrorCode::kInvalid, "'{}' is not a dotted IPv4 address", endpoint.host);

  Socket made;
  made.fd_ = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto cannot = [&](int error) {
    return fail(ErrorCode::kUnavailable, "cannot connect to {}:{}: {}", endpoint.host, endpoint.port,
                std::strerror(error));
  };
  if (!made.is_open()) return cannot(errno);
  if (::connect(made.fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EINPROGRESS) return cannot(errno);
    if (!await(made.fd_.get(), POLLOUT, deadline))
      return fail(ErrorCode::kTimeout, "no connection to {}:{} in time", endpoint.host, endpoint.port);
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(made.fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return cannot(error);
  }
  const int on = 1;
  setsockopt(made.fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

Result<void> Socket::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (!await(fd_.get(), POLLOUT, deadline)) return fail(ErrorCode::kTimeout, "the other side takes no data");
    const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    if (n < 0 && errno != EAGAIN && errno != EINTR)
      return fail(ErrorCode::kUnavailable, "connection lost while sending: {}", std::strerror(errno));
  }
  return {};
}

Result<std::size_t> Socket::receive(std::string& bytes, std::size_t limit, Deadline deadline) {
  char buffer[16384];
  for (;;) {
    if (!await(fd_.get(), POLLIN, deadline)) return fail(ErrorCode::kTimeout, "no answer in time");
    const ssize_t n = recv(fd_.get(), buffer, std::min(limit, sizeof buffer), 0);
    if (n >= 0) {
      bytes.append(buffer, static_cast<std::size_t>(n));
      return static_cast<std::size_t>(n);
    }
    if (errno != EAGAIN && errno != EINTR)
      return fail(ErrorCode::kUnavailable, "connection lost while receiving: {}", std::strerror(errno));
  }
}

bool Socket::is_quiet() const {
  char byte = 0;
  return is_open() && recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

}  // namespace espalier::agent
