// The store of tests and simulation: the promises of store.h, except that it ends with its object.
#include <deque>
#include <mutex>

#include "store/rules.h"
#include "store/store.h"

namespace espalier::store {

namespace {

struct Entry {
  ClusterState state;
  std::deque<Event> events;  // by sequence
};

void change(ClusterState& state, const Commit& commit, std::int64_t last_event) {
  state.revision = commit.expected_revision + 1;
  if (commit.cluster_row) state.cluster = *commit.cluster_row;
  state.cluster.last_event = last_event;
  for (const std::string& name : commit.drop_groups) state.groups.erase(name);
  for (const Group& group : commit.put_groups) state.groups.insert_or_assign(group.name, group);
  for (const SlotId& id : commit.drop_slots) state.slots.erase(id);
  for (const Slot& slot : commit.put_slots) state.slots.insert_or_assign(slot.id, slot);
  if (commit.slurm) state.slurm = *commit.slurm;
}

template <typename Iterator>
std::vector<Event> select(Iterator from, Iterator to, const EventQuery& query) {
  std::vector<Event> out;
  for (; from != to && std::ssize(out) < query.limit; ++from) {
    if (matches(query, *from)) out.push_back(*from);
  }
  return out;
}

class MemoryStore final : public Store {
 public:
  Result<std::int64_t> apply(const Commit& commit) override {
    const std::lock_guard lock(mutex_);
    const auto found = clusters_.find(commit.cluster);
    Known known;
    if (found != clusters_.end()) known = {found->second.state.revision, found->second.state.cluster.last_event};
    if (auto ok = check(commit, known); !ok) return tl::unexpected(ok.error());
    if (commit.remove_cluster) {
      clusters_.erase(found);
      return commit.expected_revision + 1;
    }
    if (const Entry* other = rival(commit)) return name_taken(*commit.cluster_row, other->state.cluster.id.value);
    Entry& entry = clusters_[commit.cluster];
    change(entry.state, commit, last_event_after(commit, known));
    entry.events.insert(entry.events.end(), commit.events.begin(), commit.events.end());
    return entry.state.revision;
  }

  Result<std::vector<ClusterState>> load() override {
    const std::lock_guard lock(mutex_);
    std::vector<ClusterState> out;
    for (const auto& [id, entry] : clusters_) out.push_back(entry.state);
    return out;
  }

  Result<std::vector<Event>> events(const EventQuery& query) override {
    const std::lock_guard lock(mutex_);
    const auto found = clusters_.find(query.cluster);
    if (found == clusters_.end()) return std::vector<Event>{};
    const std::deque<Event>& all = found->second.events;
    return query.ascending ? select(all.begin(), all.end(), query) : select(all.rbegin(), all.rend(), query);
  }

  Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& event_id) override {
    const std::lock_guard lock(mutex_);
    const auto found = clusters_.find(cluster);
    if (found == clusters_.end()) return std::nullopt;
    for (const Event& event : found->second.events) {
      if (event.id == event_id) return event;
    }
    return std::nullopt;
  }

  Result<void> prune_events(const ClusterId& cluster, std::int64_t keep) override {
    const std::lock_guard lock(mutex_);
    const auto found = clusters_.find(cluster);
    if (found == clusters_.end()) return {};
    while (std::ssize(found->second.events) > std::max<std::int64_t>(keep, 0)) found->second.events.pop_front();
    return {};
  }

  Result<std::vector<AccessKey>> access_keys() override {
    const std::lock_guard lock(mutex_);
    std::vector<AccessKey> out;
    for (const auto& [id, key] : access_keys_) out.push_back(key);
    return out;
  }
  Result<void> put_access_key(const AccessKey& key) override {
    const std::lock_guard lock(mutex_);
    access_keys_.insert_or_assign(key.id, key);
    return {};
  }
  Result<void> drop_access_key(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    access_keys_.erase(id);
    return {};
  }

 private:
  // The other cluster that has the name which this commit gives.
  const Entry* rival(const Commit& commit) const {
    if (!commit.cluster_row) return nullptr;
    const Cluster& wanted = *commit.cluster_row;
    for (const auto& [id, entry] : clusters_) {
      const Cluster& cluster = entry.state.cluster;
      if (id != commit.cluster && cluster.account == wanted.account && cluster.region == wanted.region &&
          cluster.name == wanted.name)
        return &entry;
    }
    return nullptr;
  }

  std::mutex mutex_;
  std::map<ClusterId, Entry> clusters_;
  std::map<std::string, AccessKey> access_keys_;
};

}  // namespace

std::unique_ptr<Store> memory_store() { return std::make_unique<MemoryStore>(); }

}  // namespace espalier::store
