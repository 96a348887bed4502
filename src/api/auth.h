// Who calls, and for which region. Signatures are not verified yet: this is the seam where they will be.
#pragma once

#include <string>

#include "api/api.h"
#include "base/result.h"
#include "http/server.h"

namespace espalier::api {

struct Caller {
  std::string account;
  std::string region;  // of the signature's credential scope; the default one for unsigned requests
};

// kInvalid: the scope names a region that cannot stand in an ARN.
Result<Caller> authenticate(const http::Request& request, const Settings& settings);

}  // namespace espalier::api
