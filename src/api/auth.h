// Who calls, for which region, and whether he may: what the gate (access/gate.h) says, in the words of the wire.
#pragma once

#include <string>

#include "access/gate.h"
#include "api/api.h"
#include "api/errors.h"
#include "http/server.h"

namespace espalier::api {

struct Call;

struct Caller {
  std::string account;
  std::string region;  // of the signature's credential scope; the default one for unsigned requests
  access::Identity who{};

  [[nodiscard]] bool may_see(std::string_view cluster) const { return access::may_see(who.key, cluster); }
};

WireError wire_error(const access::Refusal& refusal);

// Without a gate everyone is let in. ValidationException: the scope names a region that cannot stand in an ARN.
tl::expected<Caller, WireError> authenticate(const http::Request& request, const Services& services);
// For a request that has passed its shape.
tl::expected<void, WireError> authorize(const Services& services, const Call& call, std::string_view target);
// Name or ARN of the cluster that the request is about, as it has it; "" for none.
std::string cluster_of(const json::object& input);

}  // namespace espalier::api
