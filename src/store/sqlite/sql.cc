#include "store/sqlite/sql.h"

#include <utility>

namespace espalier::store::sql {

namespace {

// Returns a statement to its cache clean, whatever happened.
class Reset {
 public:
  explicit Reset(sqlite3_stmt* statement) : statement_(statement) {}
  ~Reset() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;

 private:
  sqlite3_stmt* statement_;
};

// The texts that are bound live in the caller's arguments until the statement has run: SQLITE_STATIC.
int bind(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, index, *number);
  const std::string_view text = std::get<std::string_view>(value);
  return sqlite3_bind_text64(statement, index, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                             SQLITE_UTF8);
}

struct Meaning {
  ErrorCode code;
  const char* advice;
};

Meaning meaning(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kUnavailable, "another program holds it: close that"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::kInternal, "it is damaged or no state file: put back a copy, or move it away"};
    case SQLITE_FULL:
      return {ErrorCode::kUnavailable, "free some space"};
    case SQLITE_IOERR:
      return {ErrorCode::kUnavailable, "check the disk"};
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return {ErrorCode::kPermission, "make the file and its folder writable for this user"};
    default:
      return {ErrorCode::kInternal, "this is a fault of Espalier's"};
  }
}

}  // namespace

std::string_view Row::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<Database> Database::open(const std::string& path, const char* vfs) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, vfs);
  Database db(path, handle);
  if (code != SQLITE_OK) return db.error(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 500);
  return db;
}

tl::unexpected<Error> Database::error(int code) const {
  const auto [kind, advice] = meaning(code);
  return fail(kind, "cannot use state file {}: {}; {}", path_, sqlite3_errmsg(db_.get()), advice);
}

Result<sqlite3_stmt*> Database::prepare(std::string_view sql) {
  if (const auto found = statements_.find(sql); found != statements_.end()) return found->second.get();
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  statements_.emplace(sql, statement);
  return statement;
}

Result<void> Database::run(std::string_view sql, const std::vector<Value>& values, const RowFunction& on_row) {
  const auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  const Reset reset(*statement);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (const int code = bind(*statement, static_cast<int>(i) + 1, values[i]); code != SQLITE_OK) return error(code);
  }
  while (true) {
    const int code = sqlite3_step(*statement);
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return error(code);
    if (!on_row) continue;
    if (auto ok = on_row(Row(*statement)); !ok) return ok;
  }
}

Result<void> Database::script(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Result<std::int64_t> Database::integer(std::string_view sql, const std::vector<Value>& values) {
  std::int64_t out = 0;
  auto ok = run(sql, values, [&out](const Row& row) -> Result<void> {
    out = row.integer(0);
    return {};
  });
  if (!ok) return tl::unexpected(ok.error());
  return out;
}

Result<Scope> Scope::begin(Database& db, const char* begin, const char* done, const char* undo,
                           const char* after_undo) {
  if (auto ok = db.run(begin); !ok) return tl::unexpected(ok.error());
  return Scope(db, done, undo, after_undo);
}

Scope::Scope(Scope&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)), done_(other.done_), undo_(other.undo_), after_undo_(other.after_undo_) {}

Result<void> Scope::done() {
  auto ok = db_->run(done_);
  if (ok) db_ = nullptr;
  return ok;
}

Scope::~Scope() {
  if (db_ == nullptr) return;
  // Fails when SQLite has rolled back by itself, after a full disk for one: then nothing is left to do.
  if (db_->run(undo_) && *after_undo_ != '\0') static_cast<void>(db_->run(after_undo_));
}

}  // namespace espalier::store::sql
