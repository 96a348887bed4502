// What stands between the network and the API: keys, gate, audit trail, certificate, as the options have them.
#pragma once

#include <memory>
#include <string>

#include "access/audit.h"
#include "access/gate.h"
#include "cli/serve_options.h"
#include "http/server.h"

namespace espalier {

struct Endpoint {
  std::string address;
  std::uint16_t port = 0;

  [[nodiscard]] bool loopback() const { return address.starts_with("127.") || address == "::1"; }
};
// "127.0.0.1:8650", "[::1]:8650", "localhost:8650". kInvalid.
Result<Endpoint> parse_endpoint(std::string text);

struct Door {
  std::unique_ptr<access::KeyRing> keys;
  std::unique_ptr<access::Gate> gate;
  std::unique_ptr<access::AuditTrail> audit;
  http::Tls tls{};
  std::string says{};  // who is let in, for the log
};
// `store` and `clock` must outlive it. kInvalid: an address that others reach, without keys or without a word on TLS.
Result<Door> open_door(const cli::ServeOptions& options, const Endpoint& endpoint, store::Store& store,
                       const Clock& clock);

}  // namespace espalier
