// The SQLite C API as Results: a connection with its statement cache, and scopes that roll back when left early.
// Not safe from several threads at once: the owner of a Database holds a mutex around it.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace espalier::store::sql {

using Value = std::variant<std::int64_t, std::string_view>;

// The row that a statement stands on. Texts live until the row function returns.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] std::string_view text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

// Called for each row; an error ends the statement and is its result.
using RowFunction = std::function<Result<void>(const Row&)>;

class Database {
 public:
  // The file must exist. Waits up to half a second for locks of other programs. `vfs`: SQLite's name of the file
  // system; null: the usual one.
  static Result<Database> open(const std::string& path, const char* vfs = nullptr);

  // Runs one statement with its parameters, in order. Prepared once per text: texts must come from a bounded set.
  Result<void> run(std::string_view sql, const std::vector<Value>& values = {}, const RowFunction& on_row = {});
  // Runs several statements without parameters.
  Result<void> script(const std::string& sql);
  Result<std::int64_t> integer(std::string_view sql, const std::vector<Value>& values = {});

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  Database(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}
  [[nodiscard]] tl::unexpected<Error> error(int code) const;
  Result<sqlite3_stmt*> prepare(std::string_view sql);

  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
  std::map<std::string, Statement, std::less<>> statements_;  // after db_: they go first
};

// A transaction, or a savepoint within one: undone by the destructor unless done() has succeeded.
class Scope {
 public:
  static Result<Scope> write(Database& db) { return begin(db, "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", ""); }
  static Result<Scope> read(Database& db) { return begin(db, "BEGIN", "COMMIT", "ROLLBACK", ""); }
  static Result<Scope> savepoint(Database& db) {
    return begin(db, "SAVEPOINT one", "RELEASE one", "ROLLBACK TO one", "RELEASE one");
  }
  Scope(Scope&& other) noexcept;
  Scope& operator=(Scope&&) = delete;
  ~Scope();
  Result<void> done();

 private:
  Scope(Database& db, const char* done, const char* undo, const char* after_undo)
      : db_(&db), done_(done), undo_(undo), after_undo_(after_undo) {}
  static Result<Scope> begin(Database& db, const char* begin, const char* done, const char* undo,
                             const char* after_undo);
  Database* db_;  // nullptr: nothing left to undo
  const char* done_;
  const char* undo_;
  const char* after_undo_;
};

}  // namespace espalier::store::sql
