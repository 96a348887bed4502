// A TCP connection with a deadline on every call. Blocking by poll(2), one thread at a time.
//
// TLS will stand behind the same three calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace espalier::agent {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }
// For poll(2): milliseconds until then, rounded up; 0 when it has passed.
int milliseconds_until(Deadline deadline);

struct Endpoint {
  std::string host;  // IPv4, dotted: a static program has no resolver
  std::uint16_t port = 0;
};

class Socket {
 public:
  // kUnavailable: refused or no route; kTimeout.
  static Result<Socket> connect(const Endpoint& endpoint, Deadline deadline);
  Result<void> send(std::string_view bytes, Deadline deadline);
  // Appends what has arrived, at most `limit` bytes. 0: the other side has closed.
  Result<std::size_t> receive(std::string& bytes, std::size_t limit, Deadline deadline);

  [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }
  // Nothing has arrived and the other side has not closed: a kept connection can be used once more.
  [[nodiscard]] bool is_quiet() const;
  void close() { fd_.reset(); }

 private:
  UniqueFd fd_;
};

}  // namespace espalier::agent
