// Espalier's own operations for access keys and the audit trail: docs/wire-own.md.
#include "api/operations.h"
#include "api/pages.h"
#include "api/read.h"

namespace espalier::api {
namespace {

constexpr std::int64_t kGraceDefault = 24 * 3600;

Millis seconds(std::int64_t n) { return std::chrono::seconds(n); }

json::object shown(const AccessKey& key) {
  json::object out{{"AccessKeyId", key.id},
                   {"Name", key.name},
                   {"Role", enum_name(key.role)},
                   {"Clusters", to_json(key.clusters)},
                   {"CreationTime", timestamp(key.created_at)},
                   {"Temporary", key.temporary}};
  if (key.expires_at) out["ExpirationTime"] = timestamp(*key.expires_at);
  return out;
}

// The only answer that has a secret.
Result<json::object> handed_over(const Result<access::OpenKey>& made) {
  if (!made) return tl::unexpected(made.error());
  json::object out{{"AccessKey", shown(made->key)}, {"SecretAccessKey", made->credentials.secret}};
  if (!made->credentials.session_token.empty()) out["SessionToken"] = made->credentials.session_token;
  return out;
}

tl::unexpected<Error> no_gate() { return fail(ErrorCode::kInvalid, "This control plane has no access keys"); }

Result<json::object> create_access_key(const Services& services, const Call& call) {
  if (!services.gate) return no_gate();
  const auto& input = call.input;
  access::KeyWish wish{text(input, "Name"), enum_value<Role>(text(input, "Role")).value_or(Role::ReadOnly)};
  if (const auto* clusters = member(input, "Clusters"))
    if (auto read = read_json(*clusters, wish.clusters); !read) return tl::unexpected(read.error());
  if (member(input, "LifetimeSeconds")) wish.lifetime = seconds(number(input, "LifetimeSeconds"));
  return handed_over(services.gate->keys().create(wish));
}

Result<json::object> rotate_access_key(const Services& services, const Call& call) {
  if (!services.gate) return no_gate();
  return handed_over(services.gate->keys().rotate(text(call.input, "AccessKeyId"),
                                                  seconds(number(call.input, "GraceSeconds", kGraceDefault))));
}

Result<json::object> revoke_access_key(const Services& services, const Call& call) {
  if (!services.gate) return no_gate();
  const auto revoked = services.gate->keys().revoke(text(call.input, "AccessKeyId"));
  if (!revoked) return tl::unexpected(revoked.error());
  return json::object{{"AccessKey", shown(*revoked)}, {"Open", services.gate->open()}};
}

Result<json::object> list_access_keys(const Services& services, const Call&) {
  if (!services.gate) return no_gate();
  json::array keys;
  for (const auto& key : services.gate->keys().list()) keys.push_back(shown(key));
  return json::object{{"AccessKeys", std::move(keys)}, {"Open", services.gate->open()}};
}

json::object shown(const access::AuditRecord& record) {
  json::object out{{"Time", record.time},           {"RequestId", record.request_id}, {"AccessKeyId", record.key_id},
                   {"Name", record.name},           {"Verified", record.verified},    {"SourceAddress", record.peer},
                   {"Operation", record.operation}, {"Cluster", record.cluster},      {"Status", record.status},
                   {"ErrorCode", record.error}};
  if (record.suppressed > 0) out["SuppressedRefusals"] = record.suppressed;
  return out;
}

Result<json::object> list_audit_records(const Services& services, const Call& call) {
  if (!services.audit) return fail(ErrorCode::kInvalid, "This control plane keeps no audit trail");
  const auto& input = call.input;
  const auto scope = page_scope("ListAuditRecords", "", input);
  access::AuditQuery query{text(input, "AccessKeyId"), flag(input, "ErrorsOnly"), "",
                           static_cast<std::size_t>(number(input, "MaxResults", kPageDefault))};
  if (const auto token = text(input, "NextToken"); !token.empty()) {
    auto place = read_token(scope, token);
    if (!place) return tl::unexpected(place.error());
    query.before = std::move(*place);
  }
  const auto page = services.audit->read(query);
  if (!page) return tl::unexpected(page.error());
  json::array records;
  for (const auto& record : page->records) records.push_back(shown(record));
  json::object out{{"Records", std::move(records)}};
  if (!page->next.empty()) out["NextToken"] = make_token(scope, page->next);
  return out;
}

}  // namespace

std::vector<Operation> access_operations() {
  return {at_once("Espalier.CreateAccessKey", create_access_key), at_once("Espalier.ListAccessKeys", list_access_keys),
          at_once("Espalier.RotateAccessKey", rotate_access_key),
          at_once("Espalier.RevokeAccessKey", revoke_access_key),
          at_once("Espalier.ListAuditRecords", list_audit_records)};
}

}  // namespace espalier::api
