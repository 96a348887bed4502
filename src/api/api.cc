#include "api/api.h"

#include <algorithm>

#include "access/claim.h"
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
  if (!model) return unknown_operation(fmt::format("There is no operation '{:.100}'.", target));
  return wire_error({ErrorCode::kInvalid,
                     fmt::format("{} is for clusters with Orchestrator.Eks; Espalier runs Slurm clusters.", target)});
}

// What a stranger wrote must not break the JSON of an answer or of the audit trail; no operation's name is changed by
// it.
std::string printable(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// One request on its way: what is known of it so far, for its answer and the audit trail.
struct Asked {
  std::string id;
  std::string target;
  std::string peer;
  std::string cluster{};
  access::Identity who{};
  bool admitted = false;  // passed the gate, or there is none
};

struct Prepared {
  const Operation* operation = nullptr;
  Call call;
};

tl::expected<Prepared, WireError> prepare(const http::Request& request, const Services& services, Asked& asked) {
  const std::string& target = asked.target;
  auto caller = authenticate(request, services);
  if (!caller) {
    if (const auto claim = access::read_claim(request); claim && *claim) asked.who.key.id = (*claim)->key_id;
    return tl::unexpected(caller.error());
  }
  asked.who = caller->who;
  asked.admitted = true;
  if (request.method != "POST" || target.empty())
    return tl::unexpected(unknown_operation(
        "This is the HyperPod API: send POST / with a header X-Amz-Target, such as SageMaker.ListClusters."));
  const Operation* operation = find_operation(target);
  if (!operation) return tl::unexpected(not_served(target));
  auto body = parse_body(request.body);
  if (!body) return tl::unexpected(body.error());
  const Shape& shape = *input_shape(target);
  if (auto valid = validate(shape, *body); !valid) return tl::unexpected(wire_error(valid.error()));
  Call call{std::move(*caller), known(shape, *body).get_object()};
  asked.cluster = cluster_of(call.input);
  auto may = authorize(services, call, target);
  asked.admitted = may.has_value();
  if (!may) return tl::unexpected(may.error());
  return Prepared{operation, std::move(call)};
}

bool changes_something(const Asked& asked) { return access::effect_of(asked.target) != access::Effect::kRead; }

void record(const Services& services, const Asked& asked, int status, const std::string& error) {
  access::AuditRecord record;
  record.request_id = asked.id;
  record.key_id = asked.who.key.id;
  record.name = asked.who.key.name;
  record.verified = asked.who.verified;
  record.peer = asked.peer;
  record.operation = asked.target;
  record.cluster = asked.cluster;
  record.status = status;
  record.error = error;
  services.audit->write(std::move(record), !asked.admitted);
}

// Before it is done: a crash must not leave a change of which the trail knows nothing.
void announce(const Services& services, const Asked& asked) {
  if (services.audit && changes_something(asked)) record(services, asked, access::kBegun, "");
}

// An answer by which the client may send the same request again is no use of its signature.
void conclude(const Services& services, const Asked& asked, int status, const std::string& error) {
  const bool changes = changes_something(asked);
  if (services.gate && changes && asked.admitted && status >= 500) services.gate->not_carried_out(asked.who);
  if (services.audit && (!asked.admitted || changes)) record(services, asked, status, error);
}

}  // namespace

http::Response too_busy() {
  return response(WireError{503, "ServiceUnavailable", "Too many requests are waiting. Try again."},
                  Random::from_system().uuid());
}

Api::Api(engine::Clusters& clusters, Settings settings, Capacity* capacity, Random random)
    : Api(Services{clusters, capacity, std::move(settings)}, std::move(random)) {}

std::string Api::request_id() {
  const std::lock_guard lock(mutex_);
  return random_.uuid();
}

void Api::handle(http::Request request, http::Reply reply) {
  Asked asked{request_id(), printable(http::header(request.headers, "X-Amz-Target")), request.peer};
  auto prepared = prepare(request, services_, asked);
  if (!prepared) {
    conclude(services_, asked, prepared.error().status, prepared.error().type);
    return reply(response(prepared.error(), asked.id));
  }
  announce(services_, asked);
  const auto* operation = prepared->operation;
  operation->run(services_, std::move(prepared->call),
                 [this, asked = std::move(asked), reply = std::move(reply)](const Result<json::object>& result) {
                   if (result) {
                     conclude(services_, asked, 200, "");
                     return reply(response(200, *result, asked.id));
                   }
                   if (result.error().code == ErrorCode::kInternal)
                     log::error("api: {} {}: {}", asked.target, asked.id, result.error().message);
                   const auto error = wire_error(result.error());
                   conclude(services_, asked, error.status, error.type);
                   reply(response(error, asked.id));
                 });
}

}  // namespace espalier::api
