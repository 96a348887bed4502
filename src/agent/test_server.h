// For tests: an HTTP server on a port of its own that answers one connection after the other with what a function says.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <thread>

#include "agent/http_client.h"
#include "base/unique_fd.h"

namespace espalier::agent {

// `request` is everything up to the end of its body; the answer is sent as it is. "" closes the connection.
class TestServer {
 public:
  using Answer = std::function<std::string(const std::string& request)>;

  explicit TestServer(Answer answer)
      : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    bind(listener_.get(), reinterpret_cast<sockaddr*>(&address_), size);
    listen(listener_.get(), 16);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_), &size);
    thread_ = std::jthread([this] { serve(); });
  }
  ~TestServer() { shutdown(listener_.get(), SHUT_RDWR); }

  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}", ntohs(address_.sin_port)); }
  [[nodiscard]] int connections() const { return connections_; }

  static std::string json(int status, const std::string& body, const std::string& headers = "") {
    return fmt::format("HTTP/1.1 {} X\r\n{}Content-Length: {}\r\n\r\n{}", status, headers, body.size(), body);
  }

 private:
  void serve() {
    for (;;) {
      const UniqueFd connection(accept(listener_.get(), nullptr, nullptr));
      if (!connection) return;
      ++connections_;
      while (serve_one(connection.get())) {
      }
    }
  }
  bool serve_one(int connection) {
    std::string request;
    char byte = 0;
    while (!request.ends_with("\r\n\r\n"))
      if (recv(connection, &byte, 1, 0) != 1)
        return false;
      else
        request += byte;
    const auto at = request.find("Content-Length: ");
    for (auto left = std::stoul(request.substr(at + 16)); left > 0; --left)
      if (recv(connection, &byte, 1, 0) != 1)
        return false;
      else
        request += byte;
    const std::string answer = answer_(request);
    return !answer.empty() && send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) > 0 &&
           answer.find("Connection: close") == std::string::npos;
  }

  Answer answer_;
  UniqueFd listener_;
  sockaddr_in address_{};
  std::atomic<int> connections_ = 0;
  std::jthread thread_;
};

}  // namespace espalier::agent
