#include "store/sqlite/rows.h"

#include <algorithm>

#include "store/rules.h"
#include "store/sqlite/body.h"
#include "store/sqlite/events.h"

namespace espalier::store {

namespace {

// What the cluster's own columns say before a commit.
struct Columns {
  Known known;
  EventTimes times;
};

Result<Columns> read_columns(sql::Database& db, const ClusterId& cluster) {
  Columns out;
  auto ok = db.run("SELECT revision, last_event, newest_time, time_lag FROM clusters WHERE id = ?", {cluster.value},
                   [&out](const sql::Row& row) -> Result<void> {
                     out = {{row.integer(0), row.integer(1)}, {row.integer(2), row.integer(3)}};
                     return {};
                   });
  if (!ok) return tl::unexpected(ok.error());
  return out;
}

Result<void> remove_cluster(sql::Database& db, const ClusterId& cluster) {
  for (const char* sql : {"DELETE FROM clusters WHERE id = ?", "DELETE FROM groups WHERE cluster = ?",
                          "DELETE FROM slots WHERE cluster = ?", "DELETE FROM slurm WHERE cluster = ?",
                          "DELETE FROM events WHERE cluster = ?"}) {
    if (auto ok = db.run(sql, {cluster.value}); !ok) return ok;
  }
  return {};
}

// The name is looked for, not left to the constraint: the message says who has it.
Result<void> check_name(sql::Database& db, const Cluster& cluster) {
  return db.run("SELECT id FROM clusters WHERE account = ? AND region = ? AND name = ? AND id <> ?",
                {cluster.account, cluster.region, cluster.name, cluster.id.value},
                [&](const sql::Row& row) -> Result<void> { return name_taken(cluster, std::string(row.text(0))); });
}

Result<void> write_cluster(sql::Database& db, const Commit& commit, const Columns& now) {
  if (!commit.cluster_row)
    return db.run("UPDATE clusters SET revision = ?, last_event = ?, newest_time = ?, time_lag = ? WHERE id = ?",
                  {now.known.revision, now.known.last_event, now.times.newest, now.times.lag, commit.cluster.value});
  const Cluster& row = *commit.cluster_row;
  if (auto ok = check_name(db, row); !ok) return ok;
  const std::string body = json::serialize(to_json(row));
  return db.run(
      "INSERT INTO clusters (id, account, region, name, revision, last_event, newest_time, time_lag, body)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET account = excluded.account,"
      " region = excluded.region, name = excluded.name, revision = excluded.revision,"
      " last_event = excluded.last_event, newest_time = excluded.newest_time, time_lag = excluded.time_lag,"
      " body = excluded.body",
      {row.id.value, row.account, row.region, row.name, now.known.revision, now.known.last_event, now.times.newest,
       now.times.lag, body});
}

template <typename T>
Result<void> put(sql::Database& db, std::string_view sql, const ClusterId& cluster, const std::string& key,
                 const T& row) {
  const std::string body = json::serialize(to_json(row));
  return db.run(sql, {cluster.value, key, body});
}

Result<void> write_parts(sql::Database& db, const Commit& commit) {
  const std::string& cluster = commit.cluster.value;
  Result<void> ok;
  for (const std::string& name : commit.drop_groups)
    if (ok) ok = db.run("DELETE FROM groups WHERE cluster = ? AND name = ?", {cluster, name});
  for (const Group& group : commit.put_groups)
    if (ok)
      ok = put(db, "REPLACE INTO groups (cluster, name, body) VALUES (?, ?, ?)", commit.cluster, group.name, group);
  for (const SlotId& id : commit.drop_slots)
    if (ok) ok = db.run("DELETE FROM slots WHERE cluster = ? AND id = ?", {cluster, id.value});
  for (const Slot& slot : commit.put_slots)
    if (ok)
      ok = put(db, "REPLACE INTO slots (cluster, id, body) VALUES (?, ?, ?)", commit.cluster, slot.id.value, slot);
  if (!ok || !commit.slurm) return ok;
  const std::string body = json::serialize(to_json(*commit.slurm));
  return db.run("REPLACE INTO slurm (cluster, body) VALUES (?, ?)", {cluster, body});
}

// The clusters being read, by id: parts of clusters that are not there are passed over.
using ById = std::map<std::string, ClusterState, std::less<>>;

Result<void> read_cluster_rows(sql::Database& db, ById& clusters) {
  return db.run("SELECT id, revision, last_event, body FROM clusters", {}, [&](const sql::Row& row) -> Result<void> {
    ClusterState& state = clusters[std::string(row.text(0))];
    state.revision = row.integer(1);
    auto ok = read_body(row.text(3), state.cluster, "cluster", row.text(0));
    state.cluster.last_event = row.integer(2);
    return ok;
  });
}

// Reads the rows (cluster, key, body) of a table; `place` gives the object of the state that a row fills.
template <typename Place>
Result<void> read_parts(sql::Database& db, std::string_view sql, ById& clusters, const char* what, Place place) {
  return db.run(sql, {}, [&](const sql::Row& row) -> Result<void> {
    const auto found = clusters.find(row.text(0));
    if (found == clusters.end()) return {};
    return read_body(row.text(2), place(found->second, std::string(row.text(1))), what, row.text(0), row.text(1));
  });
}

}  // namespace

Result<std::int64_t> write_commit(sql::Database& db, const Commit& commit) {
  auto columns = read_columns(db, commit.cluster);
  if (!columns) return tl::unexpected(columns.error());
  if (auto ok = check(commit, columns->known); !ok) return tl::unexpected(ok.error());
  const std::int64_t revision = commit.expected_revision + 1;
  if (commit.remove_cluster) {
    if (auto ok = remove_cluster(db, commit.cluster); !ok) return tl::unexpected(ok.error());
    return revision;
  }
  auto ok = write_events(db, commit, columns->times);
  columns->known = {revision, last_event_after(commit, columns->known)};
  if (ok) ok = write_cluster(db, commit, *columns);
  if (ok) ok = write_parts(db, commit);
  if (!ok) return tl::unexpected(ok.error());
  return revision;
}

Result<std::vector<ClusterState>> read_clusters(sql::Database& db) {
  ById clusters;
  auto ok = read_cluster_rows(db, clusters);
  if (ok)
    ok = read_parts(db, "SELECT cluster, name, body FROM groups", clusters, "group",
                    [](ClusterState& state, std::string name) -> Group& { return state.groups[std::move(name)]; });
  if (ok)
    ok = read_parts(db, "SELECT cluster, id, body FROM slots", clusters, "slot",
                    [](ClusterState& state, std::string id) -> Slot& { return state.slots[SlotId(std::move(id))]; });
  if (ok)
    ok = read_parts(db, "SELECT cluster, '', body FROM slurm", clusters, "slurm",
                    [](ClusterState& state, const std::string&) -> SlurmApplied& { return state.slurm; });
  if (!ok) return tl::unexpected(ok.error());
  std::vector<ClusterState> out;
  for (auto& [id, state] : clusters) out.push_back(std::move(state));
  return out;
}

}  // namespace espalier::store
