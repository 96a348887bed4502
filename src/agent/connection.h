// A connection to the control plane: TCP, or TLS 1.3 over it. Blocking with a deadline on every call, one thread at a
// time, as Socket.
//
// The control plane is known by the fingerprint of its certificate and by nothing else: a machine has no list of
// authorities, and no name to look up. The agent shows a certificate of its own, to which its credential is bound.
#pragma once

#include <memory>
#include <string>

#include "agent/socket.h"
#include "tls/certificate.h"

struct ssl_ctx_st;  // SSL_CTX and SSL of OpenSSL
struct ssl_st;

namespace espalier::agent {

// What all connections of an agent share; safe from any thread.
class Trust {
 public:
  // `pin`: fingerprint of the control plane's certificate. kInvalid: one of them is of no use.
  static Result<std::shared_ptr<const Trust>> make(const std::string& pin, const tls::Certificate& own);
  [[nodiscard]] ssl_ctx_st* context() const { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  Trust() = default;
  std::string pin_;
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

class Connection {
 public:
  // `trust` null: plain TCP. kPermission: the other side is not the one that was told of.
  static Result<Connection> connect(const Endpoint& endpoint, const Trust* trust, Deadline deadline);
  Result<void> send(std::string_view bytes, Deadline deadline);
  Result<std::size_t> receive(std::string& bytes, std::size_t limit, Deadline deadline);
  [[nodiscard]] bool is_quiet() const;
  void close();

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  Result<void> handshake(Deadline deadline);
  // Moves between OpenSSL's memory and the socket.
  Result<void> flush(Deadline deadline);
  Result<bool> feed(Deadline deadline);  // false: the other side has closed
  // What an operation of OpenSSL that returned n waits for: true after it has been fed, false at the end.
  Result<bool> go_on(int n, Deadline deadline);

  Socket socket_;
  std::unique_ptr<ssl_st, Free> ssl_;  // null: plain
};

}  // namespace espalier::agent
