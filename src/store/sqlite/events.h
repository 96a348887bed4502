// The events table: append, search, prune. The caller holds the transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/sql.h"
#include "store/store.h"

namespace espalier::store {

// Of one cluster's events, in milliseconds since the epoch: see schema.cc.
struct EventTimes {
  std::int64_t newest = 0;
  std::int64_t lag = 0;
};

// Appends the commit's events and carries `times` on.
Result<void> write_events(sql::Database& db, const Commit& commit, EventTimes& times);
Result<std::vector<Event>> read_events(sql::Database& db, const EventQuery& query);
Result<std::optional<Event>> read_event(sql::Database& db, const ClusterId& cluster, const std::string& event_id);
Result<void> prune_events(sql::Database& db, const ClusterId& cluster, std::int64_t keep);

}  // namespace espalier::store
