// The access keys' table. The caller holds the transaction.
#pragma once

#include <vector>

#include "model/access_key.h"
#include "store/sqlite/sql.h"

namespace espalier::store {

Result<std::vector<AccessKey>> read_access_keys(sql::Database& db);
Result<void> write_access_key(sql::Database& db, const AccessKey& key);
Result<void> drop_access_key(sql::Database& db, const std::string& id);

}  // namespace espalier::store
