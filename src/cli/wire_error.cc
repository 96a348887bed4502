#include "cli/wire_error.h"

#include <map>

#include "base/json.h"

namespace espalier::cli {

namespace {

struct Body {
  std::string __type;
  std::string Message;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(Body, (), (__type, Message, message))

Body read_body(const std::string& text) {
  const auto parsed = parse_json(text);
  if (!parsed) return {};
  return from_json<Body>(*parsed).value_or(Body{});
}

}  // namespace

ErrorCode code_of_wire(std::string_view type, int status) {
  static const std::map<std::string_view, ErrorCode> kCodes{
      {"ValidationException", ErrorCode::kInvalid},     {"ValidationError", ErrorCode::kInvalid},
      {"SerializationException", ErrorCode::kInvalid},  {"MalformedHttpRequestException", ErrorCode::kInvalid},
      {"ResourceNotFound", ErrorCode::kNotFound},       {"ResourceInUse", ErrorCode::kExists},
      {"ConflictException", ErrorCode::kConflict},      {"ResourceLimitExceeded", ErrorCode::kLimit},
      {"ThrottlingException", ErrorCode::kUnavailable}, {"ServiceUnavailable", ErrorCode::kUnavailable},
      {"RequestTimeoutException", ErrorCode::kTimeout},
  };
  const auto found = kCodes.find(type.substr(type.find('#') + 1));
  if (found != kCodes.end()) return found->second;
  if (status == 401 || status == 403) return ErrorCode::kPermission;
  return status == 503 ? ErrorCode::kUnavailable : ErrorCode::kInternal;
}

Error wire_error(std::string_view operation, const http::Response& response) {
  const Body body = read_body(response.body);
  std::string text = body.Message.empty() ? body.message : body.Message;
  if (text.empty())
    text = fmt::format("{} failed with HTTP status {} {}: is this address an Espalier control plane?", operation,
                       response.status, body.__type);
  return {code_of_wire(body.__type, response.status), std::move(text)};
}

}  // namespace espalier::cli
