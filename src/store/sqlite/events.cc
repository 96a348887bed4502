#include "store/sqlite/events.h"

#include <algorithm>

#include "store/sqlite/body.h"

namespace espalier::store {

namespace {

std::int64_t millis(Time time) { return time.time_since_epoch().count(); }

// A SELECT that grows by conditions. Texts have no values in them: their number is bounded, for the statement cache.
struct Select {
  std::string sql;
  std::vector<sql::Value> values;

  void where(std::string_view condition, std::initializer_list<sql::Value> parameters) {
    sql += " AND ";
    sql += condition;
    values.insert(values.end(), parameters);
  }
};

// The narrowest of the query's filters. SQLite keeps no statistics of ours and would guess; instances are fewer than
// groups, and of resources only Instance has many events.
const char* index_for(const EventQuery& query) {
  if (!query.instance.empty()) return " INDEXED BY events_by_instance";
  if (query.resource && *query.resource != ResourceType::Instance) return " INDEXED BY events_by_resource";
  if (!query.group.empty()) return " INDEXED BY events_by_group";
  return query.resource ? " INDEXED BY events_by_resource" : "";
}

// Bounds of time as bounds of sequence, which every index has as its last column. They may let through a few events
// that were stamped while a clock stood wrong: the exact comparison beside them takes these out.
void bound_by_time(Select& select, const EventQuery& query) {
  const std::string_view cluster = query.cluster.value;
  if (query.after) {
    const std::int64_t after = millis(*query.after);
    select.where(
        "sequence >= (SELECT sequence FROM events INDEXED BY events_by_time WHERE cluster = ? AND newest_time > ?"
        " ORDER BY newest_time, sequence LIMIT 1)",
        {cluster, after});
    select.where("time > ?", {after});
  }
  if (query.before) {
    const std::int64_t before = millis(*query.before);
    select.where(
        "sequence <= (SELECT sequence FROM events INDEXED BY events_by_time WHERE cluster = ? AND newest_time <"
        " ? + (SELECT time_lag FROM clusters WHERE id = ?) ORDER BY newest_time DESC, sequence DESC LIMIT 1)",
        {cluster, before, cluster});
    select.where("time < ?", {before});
  }
}

Select select_for(const EventQuery& query) {
  Select select{std::string("SELECT sequence, body FROM events") + index_for(query) + " WHERE cluster = ?",
                {query.cluster.value}};
  if (!query.instance.empty()) select.where("instance = ? AND instance <> ''", {query.instance.value});
  if (!query.group.empty()) select.where("group_name = ? AND group_name <> ''", {query.group});
  if (query.resource) select.where("resource = ?", {enum_name(*query.resource)});
  if (query.after_sequence > 0) select.where("sequence > ?", {query.after_sequence});
  if (query.before_sequence != 0) select.where("sequence < ?", {query.before_sequence});
  bound_by_time(select, query);
  select.sql += query.ascending ? " ORDER BY sequence LIMIT ?" : " ORDER BY sequence DESC LIMIT ?";
  select.values.emplace_back(std::int64_t{std::max(query.limit, 0)});
  return select;
}

Result<void> append_event(std::vector<Event>& out, const ClusterId& cluster, const sql::Row& row) {
  const std::string sequence = std::to_string(row.integer(0));
  return read_body(row.text(1), out.emplace_back(), "event", cluster.value, sequence);
}

}  // namespace

Result<void> write_events(sql::Database& db, const Commit& commit, EventTimes& times) {
  for (const Event& event : commit.events) {
    times.newest = std::max(times.newest, millis(event.time));
    times.lag = std::max(times.lag, times.newest - millis(event.time));
    const std::string body = json::serialize(to_json(event));
    auto ok = db.run(
        "INSERT INTO events (cluster, sequence, id, time, newest_time, resource, group_name, instance, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {commit.cluster.value, event.sequence, event.id, millis(event.time), times.newest, enum_name(event.resource),
         event.group, event.instance.value, body});
    if (!ok) return ok;
  }
  return {};
}

Result<std::vector<Event>> read_events(sql::Database& db, const EventQuery& query) {
  const Select select = select_for(query);
  std::vector<Event> out;
  auto ok =
      db.run(select.sql, select.values, [&](const sql::Row& row) { return append_event(out, query.cluster, row); });
  if (!ok) return tl::unexpected(ok.error());
  return out;
}

Result<std::optional<Event>> read_event(sql::Database& db, const ClusterId& cluster, const std::string& event_id) {
  std::vector<Event> found;
  auto ok = db.run("SELECT sequence, body FROM events WHERE cluster = ? AND id = ? LIMIT 1", {cluster.value, event_id},
                   [&](const sql::Row& row) { return append_event(found, cluster, row); });
  if (!ok) return tl::unexpected(ok.error());
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

Result<void> prune_events(sql::Database& db, const ClusterId& cluster, std::int64_t keep) {
  // Sequences have no gaps, so the number to keep is a bound of sequence.
  return db.run(
      "DELETE FROM events WHERE cluster = ? AND sequence <= (SELECT last_event FROM clusters WHERE id = ?) - ?",
      {cluster.value, cluster.value, std::max<std::int64_t>(keep, 0)});
}

}  // namespace espalier::store
