// Commits to rows and rows to states. The caller holds the transaction.
#pragma once

#include <cstdint>
#include <vector>

#include "store/sqlite/sql.h"
#include "store/store.h"

namespace espalier::store {

// Store::apply without the transaction around it: after an error the caller undoes what was written.
Result<std::int64_t> write_commit(sql::Database& db, const Commit& commit);
Result<std::vector<ClusterState>> read_clusters(sql::Database& db);

}  // namespace espalier::store
