// The HTTP/1.1 server: the only home of sockets and coroutines (with client.h).
//
// The handler is called on an I/O thread and must not block; it answers now or later, from any thread, by calling
// `reply` exactly once. A reply that is dropped uncalled answers 500; a second call is logged and ignored; one after
// the server is gone does nothing. One request of a connection is handled at a time, so pipelined ones are answered in
// order. Keep-alive, chunked and Expect: 100-continue bodies are taken; limits are enforced here, with a JSON error as
// body. Requests that two readers could read in two ways (lengths in conflict, doubled headers) are refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tls/certificate.h"

namespace espalier::http {

struct CaseInsensitive {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};
using Headers = std::multimap<std::string, std::string, CaseInsensitive>;
// The first value, or "".
std::string header(const Headers& headers, std::string_view name);

struct Request {
  std::string method;  // GET, POST
  std::string target;  // "/enrol?x=1", as sent
  Headers headers;
  std::string body;
  std::string peer;  // address of the other side
  std::string
      peer_certificate{};  // fingerprint (tls/certificate.h) of the one that the other side has shown; "" without TLS
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

using Reply = std::function<void(Response)>;
using Handler = std::function<void(Request, Reply)>;

struct Limits {
  std::size_t body_bytes = 4 << 20;                 // above: 413
  std::size_t header_bytes = 16 << 10;              // above: 431
  std::size_t all_bodies_bytes = 256 << 20;         // of all requests that are read or handled; above: 503
  std::size_t share_of_address = 4;                 // one address may hold a fourth of them
  int connections = 20000;                          // above: new ones are closed at once
  int connections_per_address = 2000;               // the same
  std::chrono::milliseconds read_timeout{30'000};   // for one request to arrive whole: 408; for a TLS handshake: closed
  std::chrono::milliseconds idle_timeout{120'000};  // between requests, and for a reader to take an answer: closed
};

struct Tls {
  tls::Certificate certificate{};  // empty: plain HTTP
  // Asks the other side for a certificate. It may be self-made and need not come: the handler sees its fingerprint, and
  // decides.
  bool ask_peer = false;
};

class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;  // the one taken when 0 was asked for
  // Stops accepting, closes idle connections, waits up to `grace` for answers that are under way, then closes the rest.
  // Not from the handler's thread. The destructor does the same with no grace.
  virtual void stop(std::chrono::milliseconds grace) = 0;

  // kExists when the address is taken: the message names it. `address` is numeric, "127.0.0.1" or "::1".
  static Result<std::unique_ptr<Server>> listen(const std::string& address, std::uint16_t port, Handler handler,
                                                Limits limits = {}, int threads = 1, const Tls& tls = {});
};

}  // namespace espalier::http
