// What every back end must agree on, written once.
#pragma once

#include <cstdint>

#include "store/store.h"

namespace espalier::store {

// What a back end knows of a cluster before a commit; all 0 when there is none.
struct Known {
  std::int64_t revision = 0;
  std::int64_t last_event = 0;  // sequence of its newest event, pruned or not
};

// Everything of a commit that can be checked without looking at other clusters.
Result<void> check(const Commit& commit, const Known& known);
// The sequence of the newest event after the commit.
std::int64_t last_event_after(const Commit& commit, const Known& known);
tl::unexpected<Error> name_taken(const Cluster& cluster, const std::string& by);
// Whether the query's filters let the event through. Its limit and order are the caller's.
bool matches(const EventQuery& query, const Event& event);

}  // namespace espalier::store
