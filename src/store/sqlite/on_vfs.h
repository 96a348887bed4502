// The SQLite store on a file system that the caller brings (sqlite3_vfs): for the simulation, whose disk is in memory.
#pragma once

#include "store/store.h"

namespace espalier::store {

// As sqlite_store(), but nobody else can have the file: no lock, no mode.
Result<std::unique_ptr<Store>> sqlite_store_on(const char* vfs, const std::string& path);

}  // namespace espalier::store
