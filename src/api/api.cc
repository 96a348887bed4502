#include "api/api.h"

#include "api/auth.h"
#include "api/errors.h"
#include "api/operations.h"
#include "api/validate.h"
#include "base/log.h"

namespace espalier::api {
namespace {

http::Response response(int status, const json::object& body, const std::string& request_id) {
  return {status,
          {{"Content-Type", "application/x-amz-json-1.1"}, {"x-amzn-RequestId", request_id}},
          json::serialize(body)};
}

http::Response response(const WireError& error, const std::string& request_id) {
  return response(error.status, {{"__type", error.type}, {"Message", error.message}}, request_id);
}

tl::expected<json::object, WireError> parse_body(const std::string& body) {
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) return json::object{};
  auto parsed = parse_json(body);
  if (!parsed)
    return tl::unexpected(malformed(fmt::format("The request body could not be read: {}.", parsed.error().message)));
  if (!parsed->is_object())
    return tl::unexpected(malformed("The request body is JSON, but not an object: pass the members in {}."));
  return std::move(parsed->get_object());
}

WireError not_served(const std::string& target) {
  const auto* model = operation_model(target);
  if (!model) return unknown_operation(fmt::format("There is no operation '{}'.", target));
  if (!model->eks)
    return unknown_operation(
        fmt::format("{} is an operation of the service that Espalier does not serve yet.", target));
  return wire_error({ErrorCode::kInvalid,
                     fmt::format("{} is for clusters with Orchestrator.Eks; Espalier runs Slurm clusters.", target)});
}

struct Prepared {
  const Operation* operation = nullptr;
  Call call;
};

tl::expected<Prepared, WireError> prepare(const http::Request& request, const Settings& settings) {
  const std::string target = http::header(request.headers, "X-Amz-Target");
  if (request.method != "POST" || target.empty())
    return tl::unexpected(unknown_operation(
        "This is the HyperPod API: send POST / with a header X-Amz-Target, such as SageMaker.ListClusters."));
  const Operation* operation = find_operation(target);
  auto caller = authenticate(request, settings);
  if (!caller) return tl::unexpected(wire_error(caller.error()));
  if (!operation) return tl::unexpected(not_served(target));
  auto body = parse_body(request.body);
  if (!body) return tl::unexpected(body.error());
  if (auto valid = validate(*input_shape(target), *body); !valid) return tl::unexpected(wire_error(valid.error()));
  return Prepared{operation, {std::move(*caller), std::move(*body)}};
}

}  // namespace

Api::Api(engine::Clusters& clusters, Settings settings, Capacity* capacity, Random random)
    : services_{clusters, capacity, std::move(settings)}, random_(std::move(random)) {}

std::string Api::request_id() {
  const std::lock_guard lock(mutex_);
  return random_.uuid();
}

void Api::handle(http::Request request, http::Reply reply) {
  const std::string id = request_id();
  auto prepared = prepare(request, services_.settings);
  if (!prepared) return reply(response(prepared.error(), id));
  const auto* operation = prepared->operation;
  operation->run(services_, std::move(prepared->call), [id, operation, reply](Result<json::object> result) {
    if (result) return reply(response(200, *result, id));
    if (result.error().code == ErrorCode::kInternal)
      log::error("api: {} {}: {}", operation->target, id, result.error().message);
    reply(response(wire_error(result.error()), id));
  });
}

}  // namespace espalier::api
