// The store that `serve` uses: one SQLite file, owned by one process.
#include "store/store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/file_lock.h"
#include "store/sqlite/access_keys.h"
#include "store/sqlite/committer.h"
#include "store/sqlite/events.h"
#include "store/sqlite/on_vfs.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/unflushed.h"

namespace espalier::store {

namespace {

// Readers have a connection of their own: in WAL mode they neither wait for the writer nor hold it up.
class SqliteStore final : public Store {
 public:
  SqliteStore(std::optional<FileLock> lock, sql::Database writer, sql::Database reader)
      : lock_(std::move(lock)), committer_(std::move(writer)), reader_(std::move(reader)) {}

  Result<std::int64_t> apply(const Commit& commit) override { return committer_.apply(commit); }

  Result<std::vector<ClusterState>> load() override {
    const std::lock_guard lock(reading_);
    const auto snapshot = sql::Scope::read(reader_);  // all tables as of one moment
    if (!snapshot) return tl::unexpected(snapshot.error());
    return read_clusters(reader_);
  }

  Result<std::vector<Event>> events(const EventQuery& query) override {
    const std::lock_guard lock(reading_);
    return read_events(reader_, query);
  }

  Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& event_id) override {
    const std::lock_guard lock(reading_);
    return read_event(reader_, cluster, event_id);
  }

  Result<void> prune_events(const ClusterId& cluster, std::int64_t keep) override {
    return committer_.write([&](sql::Database& db) { return store::prune_events(db, cluster, keep); });
  }

  Result<std::vector<AccessKey>> access_keys() override {
    const std::lock_guard lock(reading_);
    return read_access_keys(reader_);
  }

  Result<void> put_access_key(const AccessKey& key) override {
    return committer_.write([&](sql::Database& db) { return write_access_key(db, key); });
  }

  Result<void> drop_access_key(const std::string& id) override {
    return committer_.write([&](sql::Database& db) { return store::drop_access_key(db, id); });
  }

 private:
  std::optional<FileLock> lock_;  // first: let go after the connections are closed
  Committer committer_;
  std::mutex reading_;
  sql::Database reader_;
};

// SQLite would make it by the umask: the rows have secrets in them. Its side files take over this mode.
Result<void> make_private(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file && fchmod(file.get(), 0600) == 0) return {};
  const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermission;
  return fail(code, "cannot open state file {}: {}; it and its folder must be writable for this user", path,
              std::strerror(errno));
}

enum class Flush { kEveryCommit, kNever };

// FULL: a commit is on disk before its answer, also when the power fails.
Result<sql::Database> open_writer(const std::string& path, const char* vfs) {
  auto db = sql::Database::open(path, vfs);
  if (!db) return db;
  auto ok = db->script("PRAGMA synchronous=FULL; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;");
  if (ok) ok = migrate(*db, path);  // before the mode is changed: a file that is not ours stays as it is
  if (ok) ok = db->script("PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=67108864;");
  if (!ok) return tl::unexpected(ok.error());
  return db;
}

Result<sql::Database> open_reader(const std::string& path, const char* vfs) {
  auto db = sql::Database::open(path, vfs);
  if (!db) return db;
  if (auto ok = db->script("PRAGMA query_only=ON; PRAGMA trusted_schema=OFF;"); !ok) return tl::unexpected(ok.error());
  return db;
}

Result<std::unique_ptr<Store>> open_both(std::optional<FileLock> lock, const std::string& path, const char* vfs,
                                         Flush flush = Flush::kEveryCommit) {
  auto writer = open_writer(path, vfs);
  if (writer && flush == Flush::kNever)
    if (auto ok = writer->script("PRAGMA synchronous=OFF;"); !ok) return tl::unexpected(ok.error());
  if (!writer) return tl::unexpected(writer.error());
  auto reader = open_reader(path, vfs);
  if (!reader) return tl::unexpected(reader.error());
  return std::make_unique<SqliteStore>(std::move(lock), std::move(*writer), std::move(*reader));
}

Result<std::unique_ptr<Store>> open_locked(const std::string& path, Flush flush) {
  auto lock = FileLock::take(path + ".lock");
  if (!lock) return tl::unexpected(lock.error());
  if (auto ok = make_private(path); !ok) return tl::unexpected(ok.error());
  return open_both(std::move(*lock), path, nullptr, flush);
}

}  // namespace

Result<std::unique_ptr<Store>> sqlite_store(const std::string& path) { return open_locked(path, Flush::kEveryCommit); }

Result<std::unique_ptr<Store>> unflushed_sqlite_store(const std::string& path) {
  return open_locked(path, Flush::kNever);
}

Result<std::unique_ptr<Store>> sqlite_store_on(const char* vfs, const std::string& path) {
  return open_both(std::nullopt, path, vfs);
}

}  // namespace espalier::store
