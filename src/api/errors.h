// Errors as the wire has them: one table from ErrorCode, and the few that have no ErrorCode.
#pragma once

#include <string>

#include "base/result.h"

namespace espalier::api {

struct WireError {
  int status = 500;
  std::string type;  // __type
  std::string message;
};

WireError wire_error(const Error& error);
// 404: not an operation, or not one that is served.
WireError unknown_operation(std::string message);
// 400: the body is no JSON object. The contract's list of common errors has MalformedHttpRequestException for it, where
// AWS itself is known to say SerializationException.
WireError malformed(std::string message);

}  // namespace espalier::api
