// The SQLite store without waiting for the disk: for machines that are models and end with the process.
#pragma once

#include "store/store.h"

namespace espalier::store {

// As sqlite_store(), but a commit outlives the process only, not a power failure.
Result<std::unique_ptr<Store>> unflushed_sqlite_store(const std::string& path);

}  // namespace espalier::store
