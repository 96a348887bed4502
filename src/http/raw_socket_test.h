// A bare TCP client for the server's tests: sends any bytes, reads one answer at a time.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace espalier::http {

class RawSocket {
 public:
  explicit RawSocket(std::uint16_t port, const char* from = "127.0.0.1") : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{20, 0};  // a test that waits longer has failed
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = inet_addr(from);
    bind(fd_, reinterpret_cast<sockaddr*>(&own), sizeof own);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  ~RawSocket() { close(fd_); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }

  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // refused in mid-send: the answer says why
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  // One answer: status line, headers, body by Content-Length. "" when the other side closed.
  std::string read_answer(bool has_body = true) {
    while (in_.find("\r\n\r\n") == std::string::npos)
      if (!fill()) return std::exchange(in_, "");
    const std::size_t body = in_.find("\r\n\r\n") + 4;
    const std::size_t at = in_.find("Content-Length: ");
    const std::size_t length = has_body && at < body ? std::strtoul(in_.c_str() + at + 16, nullptr, 10) : 0;
    while (in_.size() < body + length)
      if (!fill()) break;
    const std::string answer = in_.substr(0, body + length);
    in_.erase(0, body + length);
    return answer;
  }
  bool closed() { return in_.empty() && !fill(); }

 private:
  bool fill() {
    char piece[4096];
    const ssize_t n = recv(fd_, piece, sizeof piece, 0);
    if (n > 0) in_.append(piece, static_cast<std::size_t>(n));
    return n > 0;
  }

  int fd_;
  bool connected_ = false;
  std::string in_;
};

inline std::string post(std::string_view body, std::string_view extra = "") {
  return fmt::format("POST /p HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n{}", extra, body.size(), body);
}

}  // namespace espalier::http
