#include "api/errors.h"

#include "base/clip.h"

namespace espalier::api {
namespace {

constexpr std::size_t kMessageLength = 4096;  // a list of problems has an end

struct Row {
  ErrorCode code;
  int status;
  const char* type;
};
// Every error that the service models is a 400.
constexpr Row kTable[] = {
    {ErrorCode::kInvalid, 400, "ValidationException"},    {ErrorCode::kNotFound, 400, "ResourceNotFound"},
    {ErrorCode::kExists, 400, "ResourceInUse"},           {ErrorCode::kConflict, 400, "ConflictException"},
    {ErrorCode::kLimit, 400, "ResourceLimitExceeded"},    {ErrorCode::kPermission, 403, "AccessDeniedException"},
    {ErrorCode::kUnavailable, 503, "ServiceUnavailable"}, {ErrorCode::kTimeout, 503, "ServiceUnavailable"},
    {ErrorCode::kInternal, 500, "InternalFailure"},
};

}  // namespace

WireError wire_error(const Error& error) {
  for (const auto& row : kTable) {
    if (row.code != error.code) continue;
    std::string message = error.message;
    clip(message, kMessageLength);
    return {row.status, row.type, std::move(message)};
  }
  return {500, "InternalFailure", error.message};
}

WireError unknown_operation(std::string message) { return {404, "UnknownOperationException", std::move(message)}; }
WireError malformed(std::string message) { return {400, "MalformedHttpRequestException", std::move(message)}; }

}  // namespace espalier::api
