// The tables of the state file, as numbered migrations.
#pragma once

#include "store/sqlite/sql.h"

namespace espalier::store {

// Brings the file to the newest schema in one transaction; a new file gets it whole. kInvalid: the file is of a newer
// Espalier, or of another program: it is left as it is.
Result<void> migrate(sql::Database& db, const std::string& path);

}  // namespace espalier::store
