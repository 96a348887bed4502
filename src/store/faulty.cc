#include "store/faulty.h"

namespace espalier::store {

namespace {

tl::unexpected<Error> broken() { return fail(ErrorCode::kUnavailable, "the store failed, as the test wants it"); }

}  // namespace

void FaultyStore::plan(Fault fault) {
  const std::lock_guard lock(mutex_);
  fault.at_commit += commits_;
  fault_ = fault;
}

std::int64_t FaultyStore::commits() const {
  const std::lock_guard lock(mutex_);
  return commits_;
}

bool FaultyStore::dead() const {
  const std::lock_guard lock(mutex_);
  return dead_;
}

std::optional<Fault> FaultyStore::count() {
  const std::lock_guard lock(mutex_);
  if (dead_) return Fault{};
  if (++commits_; !fault_ || fault_->at_commit != commits_) return std::nullopt;
  dead_ = fault_->dies;
  return std::exchange(fault_, std::nullopt);
}

Result<std::int64_t> FaultyStore::apply(const Commit& commit) {
  const auto struck = count();
  if (!struck) return inner_.apply(commit);
  if (struck->takes_effect) {
    if (auto refused = inner_.apply(commit); !refused) return refused;
  }
  return broken();
}

Result<std::vector<ClusterState>> FaultyStore::load() {
  if (dead()) return broken();
  return inner_.load();
}

Result<std::vector<Event>> FaultyStore::events(const EventQuery& query) {
  if (dead()) return broken();
  return inner_.events(query);
}

Result<std::optional<Event>> FaultyStore::event(const ClusterId& cluster, const std::string& event_id) {
  if (dead()) return broken();
  return inner_.event(cluster, event_id);
}

Result<void> FaultyStore::prune_events(const ClusterId& cluster, std::int64_t keep) {
  if (dead()) return broken();
  return inner_.prune_events(cluster, keep);
}

Result<std::vector<AccessKey>> FaultyStore::access_keys() {
  if (dead()) return broken();
  return inner_.access_keys();
}

Result<void> FaultyStore::put_access_key(const AccessKey& key) {
  if (dead()) return broken();
  return inner_.put_access_key(key);
}

Result<void> FaultyStore::drop_access_key(const std::string& id) {
  if (dead()) return broken();
  return inner_.drop_access_key(id);
}

}  // namespace espalier::store
