#include "cli/actions.h"
#include "cli/duration.h"
#include "cli/wire.h"

namespace espalier::cli {

namespace {

void print_pools(Context& context, const wire::PoolList& list) {
  Table table({"TYPE", "MACHINES", "IN USE", "LAUNCH TIME", "FAILURE RATE", "FAILURE"});
  for (const auto& [type, pool] : list.Pools)
    table.add({type, pool.Machines ? std::to_string(*pool.Machines) : "unlimited", std::to_string(pool.InUse),
               show_duration(Millis(pool.LaunchTimeMillis)), fmt::format("{}", pool.FailureRate),
               pool.FailureRate > 0 ? pool.FailureClass : ""});
  print(context, table);
}

Result<void> show(Context& context, const Result<json::object>& answer) {
  return show_answer<wire::PoolList>(context, answer,
                                     [&context](const wire::PoolList& list) { print_pools(context, list); });
}

// Sets Machines from "N" or "unlimited".
Result<void> set_machines(json::object& pool, std::string_view type, std::string_view machines) {
  if (machines == "unlimited") {
    pool["Machines"] = nullptr;
    return {};
  }
  auto count = parse_count(type, machines);
  if (!count) return tl::unexpected(Error{count.error().code, count.error().message + ", or unlimited"});
  pool["Machines"] = *count;
  return {};
}

json::object shared_members(const CapacityOptions& options) {
  json::object pool;
  if (options.launch_time) pool["LaunchTimeMillis"] = options.launch_time->count();
  if (options.failure_rate) pool["FailureRate"] = *options.failure_rate;
  if (!options.failure_class.empty()) pool["FailureClass"] = options.failure_class;
  return pool;
}

}  // namespace

Result<json::object> capacity_request(const CapacityOptions& options) {
  json::object pools;
  for (const std::string_view text : options.pools) {
    json::object pool = shared_members(options);
    const auto equals = text.find('=');
    const auto type = text.substr(0, equals);
    if (equals != std::string_view::npos)
      if (auto ok = set_machines(pool, type, text.substr(equals + 1)); !ok) return tl::unexpected(ok.error());
    if (pool.empty())
      return fail(ErrorCode::kInvalid, "Nothing to set for '{0}': write {0}=N, {0}=unlimited, or give an option", text);
    pools[type] = std::move(pool);
  }
  return json::object{{"Pools", std::move(pools)}};
}

Result<void> show_capacity(Context& context) {
  return show(context, context.service.call("Espalier.DescribeCapacity", {}));
}

Result<void> set_capacity(Context& context, const CapacityOptions& options) {
  const auto request = capacity_request(options);
  if (!request) return tl::unexpected(request.error());
  return show(context, context.service.call("Espalier.UpdateCapacity", *request));
}

}  // namespace espalier::cli
