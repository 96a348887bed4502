#include "store/rules.h"

namespace espalier::store {

Result<void> check(const Commit& commit, const Known& known) {
  const std::string& id = commit.cluster.value;
  if (commit.expected_revision != known.revision)
    return fail(ErrorCode::kConflict, "cluster {} is at revision {}, not {}: read it again", id, known.revision,
                commit.expected_revision);
  if (commit.cluster_row && commit.cluster_row->id != commit.cluster)
    return fail(ErrorCode::kInvalid, "commit of cluster '{}' has the row of '{}'", id, commit.cluster_row->id.value);
  if (known.revision == 0 && (id.empty() || !commit.cluster_row || commit.remove_cluster))
    return fail(ErrorCode::kInvalid, "the first commit of cluster '{}' must have its row", id);
  std::int64_t next = known.last_event;
  for (const Event& event : commit.events) {
    if (event.sequence != ++next)
      return fail(ErrorCode::kInvalid, "event {} of cluster {} must have sequence {}", event.sequence, id, next);
  }
  return {};
}

std::int64_t last_event_after(const Commit& commit, const Known& known) {
  return known.last_event + static_cast<std::int64_t>(commit.events.size());
}

tl::unexpected<Error> name_taken(const Cluster& cluster, const std::string& by) {
  return fail(ErrorCode::kExists, "the name {} is taken in account {}, region {} by cluster {}: choose another",
              cluster.name, cluster.account, cluster.region, by);
}

bool matches(const EventQuery& query, const Event& event) {
  return (query.group.empty() || event.group == query.group) &&
         (query.instance.empty() || event.instance == query.instance) &&
         (!query.resource || event.resource == *query.resource) && (!query.after || event.time > *query.after) &&
         (!query.before || event.time < *query.before) && event.sequence > query.after_sequence &&
         (query.before_sequence == 0 || event.sequence < query.before_sequence);
}

}  // namespace espalier::store
