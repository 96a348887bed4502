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
  const auto made = read_answer<wire::NewAccessKey>(answer);
  if (!made) return tl::unexpected(made.error());
  if (context.json) {
    print_json(context, *answer);
    return {};
  }
  const auto& key = made->AccessKey;
  print(context, fmt::format("# {}: {}, clusters: {}. The secret is not shown again.", key.Name, key.Role,
                             listed(key.Clusters)));
  print(context, "export AWS_ACCESS_KEY_ID=" + key.AccessKeyId);
  print(context, "export AWS_SECRET_ACCESS_KEY=" + made->SecretAccessKey);
  if (!made->SessionToken.empty()) print(context, "export AWS_SESSION_TOKEN=" + made->SessionToken);
  return {};
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
  const auto revoked = read_answer<wire::RevokedAccessKey>(answer);
  if (!revoked) return tl::unexpected(revoked.error());
  if (context.json) {
    print_json(context, *answer);
    return {};
  }
  print(context, fmt::format("Access key {} ({}) is revoked.", id, revoked->AccessKey.Name));
  if (revoked->Open) print(context, "No key is left: the control plane takes unsigned requests of this host again.");
  return {};
}

Result<void> list_access_keys(Context& context) {
  const auto answer = context.service.call("Espalier.ListAccessKeys", {});
  const auto list = read_answer<wire::AccessKeyList>(answer);
  if (!list) return tl::unexpected(list.error());
  if (context.json) {
    print_json(context, *answer);
    return {};
  }
  Table table({"KEY", "NAME", "ROLE", "CLUSTERS", "CREATED", "ENDS"});
  for (const auto& key : list->AccessKeys)
    table.add({key.AccessKeyId, key.Name, key.Role, listed(key.Clusters), show_date(from_epoch(key.CreationTime)),
               ending(key, context.clock.now())});
  if (!list->AccessKeys.empty()) print(context, table);
  if (list->Open)
    print(context,
          "No access keys: everyone on this host may do everything. `espalier access create` makes the first.");
  return {};
}

}  // namespace espalier::cli
