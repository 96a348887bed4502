// rooms: http
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "http/server.h"

namespace {

using namespace espalier;

// One server for all inputs; its handler checks what it is given.
http::Server& server() {
  static const auto it = [] {
    http::Limits limits;
    limits.body_bytes = 1 << 16;
    limits.read_timeout = std::chrono::milliseconds(200);
    const auto handler = [limits](const http::Request& request, const http::Reply& reply) {
      std::size_t bytes = request.target.size();
      for (const auto& [name, value] : request.headers) bytes += name.size() + value.size();
      if (request.body.size() > limits.body_bytes || bytes > limits.header_bytes) std::abort();
      const bool two_lengths =
          request.headers.contains("Content-Length") && request.headers.contains("Transfer-Encoding");
      if (two_lengths || request.headers.count("Host") > 1 || request.headers.count("Content-Length") > 1) std::abort();
      reply({200, {}, ""});
    };
    return std::move(http::Server::listen("127.0.0.1", 0, handler, limits).value());
  }();
  return *it;
}

}  // namespace

// Whatever bytes arrive: an answer, or the end of the connection; and the next input is served.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(server().port());
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) std::abort();
  const timeval patience{20, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  for (std::size_t sent = 0; sent < size;) {
    const ssize_t n = send(fd, data + sent, size - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;  // the fuzzer's own alarm
    if (n <= 0) break;                      // refused in the middle
    sent += static_cast<std::size_t>(n);
  }
  shutdown(fd, SHUT_WR);
  char piece[4096];
  for (;;) {
    const ssize_t n = recv(fd, piece, sizeof piece, 0);
    if (n == 0 || (n < 0 && errno == ECONNRESET)) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) std::abort();  // it hangs
  }
  close(fd);
  return 0;
}
