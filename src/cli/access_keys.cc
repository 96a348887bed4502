#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

std::string listed(const std::vector<std::string>& clusters) {
  return clusters.empty() ? "all" : fmt::format("{}", fmt::join(clusters, ","));
}

Cell ending(const wire::AccessKey& key, Time now) {
  if (key.ExpirationTime == 0) return "";
  const bool over = from_epoch(key.ExpirationTime) <= now;
  return {(over ? "expired " : "") + show_date(from_epoch(key.ExpirationTime)), over ? Colour::kRed : Colour::kNone};
}

// As the variables that every client reads; the secret is not to be had again.
Result<void> hand_over(Context& context, const Result<json::object>& answer) {
  return show_answer<wire::NewAccessKey>(context, answer, [&context](const wire::NewAccessKey& made) {
    const auto& key = made.AccessKey;
    print(context, fmt::format("# {}: {}, clusters: {}. The secret is not shown again.", key.Name, key.Role,
                               listed(key.Clusters)));
    print(context, "export AWS_ACCESS_KEY_ID=" + key.AccessKeyId);
    print(context, "export AWS_SECRET_ACCESS_KEY=" + made.SecretAccessKey);
    if (!made.SessionToken.empty()) print(context, "export AWS_SESSION_TOKEN=" + made.SessionToken);
  });
}

}  // namespace

Result<void> create_access_key(Context& context, const AccessKeyOptions& options) {
  json::object request{{"Name", options.name}, {"Role", options.role}};
  if (!options.clusters.empty()) request["Clusters"] = to_json(options.clusters);
  if (options.lifetime) request["LifetimeSeconds"] = options.lifetime->count() / 1000;
  return hand_over(context, context.service.call("Espalier.CreateAccessKey", request));
}

Result<void> rotate_access_key(Context& context, const std::string& id, std::optional<Millis> grace) {
  json::object request{{"AccessKeyId", id}};
  if (grace) request["GraceSeconds"] = grace->count() / 1000;
  return hand_over(context, context.service.call("Espalier.RotateAccessKey", request));
}

Result<void> revoke_access_key(Context& context, const std::string& id) {
  const auto answer = context.service.call("Espalier.RevokeAccessKey", {{"AccessKeyId", id}});
  return show_answer<wire::RevokedAccessKey>(context, answer, [&](const wire::RevokedAccessKey& revoked) {
    print(context, fmt::format("Access key {} ({}) is revoked.", id, revoked.AccessKey.Name));
    if (revoked.Open) print(context, "No key is left: the control plane takes unsigned requests of this host again.");
  });
}

Result<void> list_access_keys(Context& context) {
  const auto answer = context.service.call("Espalier.ListAccessKeys", {});
  return show_answer<wire::AccessKeyList>(context, answer, [&context](const wire::AccessKeyList& list) {
    Table table({"KEY", "NAME", "ROLE", "CLUSTERS", "CREATED", "ENDS"});
    for (const auto& key : list.AccessKeys)
      table.add({key.AccessKeyId, key.Name, key.Role, listed(key.Clusters), show_date(from_epoch(key.CreationTime)),
                 ending(key, context.clock.now())});
    if (!list.AccessKeys.empty()) print(context, table);
    if (list.Open)
      print(context,
            "No access keys: everyone on this host may do everything. `espalier access create` makes the first.");
  });
}

}  // namespace espalier::cli
