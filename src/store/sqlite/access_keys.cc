#include "store/sqlite/access_keys.h"

#include "store/sqlite/body.h"

namespace espalier::store {

Result<std::vector<AccessKey>> read_access_keys(sql::Database& db) {
  std::vector<AccessKey> out;
  auto ok = db.run("SELECT id, body FROM access_keys ORDER BY id", {}, [&](const sql::Row& row) {
    return read_body(row.text(1), out.emplace_back(), "access key", "", row.text(0));
  });
  if (!ok) return tl::unexpected(ok.error());
  return out;
}

Result<void> write_access_key(sql::Database& db, const AccessKey& key) {
  const std::string body = json::serialize(to_json(key));
  return db.run("INSERT OR REPLACE INTO access_keys (id, body) VALUES (?, ?)", {key.id, body});
}

Result<void> drop_access_key(sql::Database& db, const std::string& id) {
  return db.run("DELETE FROM access_keys WHERE id = ?", {id});
}

}  // namespace espalier::store
