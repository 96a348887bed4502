#include "store/sqlite/schema.h"

#include <array>

namespace espalier::store {

namespace {

constexpr std::int64_t kApplicationId = 0x4573706c;  // "Espl", in the file's header

// Number n brings schema n to n + 1. What has been released is never changed: add another.
//
// Rows are JSON texts beside the columns that are searched. Of events: newest_time is the largest time of the cluster's
// events up to this one, so it never falls with growing sequence, whatever the clock does; clusters.time_lag is the
// most that an event's own time was behind it. Together they turn bounds of time into bounds of sequence (see
// events.cc).
constexpr std::array kMigrations = {
    R"(
CREATE TABLE clusters (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, region TEXT NOT NULL, name TEXT NOT NULL,
  revision INTEGER NOT NULL, last_event INTEGER NOT NULL, newest_time INTEGER NOT NULL, time_lag INTEGER NOT NULL,
  body TEXT NOT NULL, UNIQUE (account, region, name)) STRICT, WITHOUT ROWID;
CREATE TABLE groups (
  cluster TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (cluster, name)) STRICT, WITHOUT ROWID;
CREATE TABLE slots (
  cluster TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (cluster, id)) STRICT, WITHOUT ROWID;
CREATE TABLE slurm (cluster TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  cluster TEXT NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL,
  newest_time INTEGER NOT NULL, resource TEXT NOT NULL, group_name TEXT NOT NULL, instance TEXT NOT NULL,
  body TEXT NOT NULL, PRIMARY KEY (cluster, sequence)) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_id ON events (cluster, id);
CREATE INDEX events_by_time ON events (cluster, newest_time, sequence);
CREATE INDEX events_by_resource ON events (cluster, resource, sequence);
CREATE INDEX events_by_group ON events (cluster, group_name, sequence) WHERE group_name <> '';
CREATE INDEX events_by_instance ON events (cluster, instance, sequence) WHERE instance <> '';
)",
    "CREATE TABLE access_keys (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;",
};

constexpr auto kNewest = static_cast<std::int64_t>(kMigrations.size());

Result<void> check_file(std::int64_t version, std::int64_t application, std::int64_t objects, const std::string& path) {
  const bool ours = application == kApplicationId || (application == 0 && version == 0 && objects == 0);
  if (!ours) return fail(ErrorCode::kInvalid, "{} is a database of another program: name another state file", path);
  if (version > kNewest)
    return fail(ErrorCode::kInvalid,
                "{} has schema {}, this Espalier knows {}: install a newer one, or name another file", path, version,
                kNewest);
  return {};
}

}  // namespace

Result<void> migrate(sql::Database& db, const std::string& path) {
  auto scope = sql::Scope::write(db);
  if (!scope) return tl::unexpected(scope.error());
  const auto version = db.integer("PRAGMA user_version");
  const auto application = db.integer("PRAGMA application_id");
  const auto objects = db.integer("SELECT count(*) FROM sqlite_master");
  for (const auto* read : {&version, &application, &objects}) {
    if (!*read) return tl::unexpected(read->error());
  }
  if (auto ok = check_file(*version, *application, *objects, path); !ok) return ok;
  if (*version == kNewest) return {};
  for (auto number = *version; number < kNewest; ++number) {
    if (auto ok = db.script(kMigrations[static_cast<std::size_t>(number)]); !ok) return ok;
  }
  const std::string stamp = fmt::format("PRAGMA user_version={}; PRAGMA application_id={};", kNewest, kApplicationId);
  if (auto ok = db.script(stamp); !ok) return ok;
  return scope->done();
}

}  // namespace espalier::store
