// A store that fails at a chosen commit, for tests and simulation of crashes between any two steps.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "store/store.h"

namespace espalier::store {

struct Fault {
  std::int64_t at_commit = 1;  // the next commit is 1
  bool takes_effect = false;   // the commit is on disk all the same: only its answer is lost
  bool dies = false;           // every later call fails too, as after a crash: drop this object, go on with `inner`
};

class FaultyStore final : public Store {
 public:
  // `inner` outlives this object, as a disk outlives a process.
  explicit FaultyStore(Store& inner) : inner_(inner) {}
  // Replaces a fault that has not struck yet. A fault strikes once; the commit that it strikes gets kUnavailable.
  void plan(Fault fault);
  // Commits that were asked for, those that failed too.
  [[nodiscard]] std::int64_t commits() const;

  Result<std::int64_t> apply(const Commit& commit) override;
  Result<std::vector<ClusterState>> load() override;
  Result<std::vector<Event>> events(const EventQuery& query) override;
  Result<std::optional<Event>> event(const ClusterId& cluster, const std::string& event_id) override;
  Result<void> prune_events(const ClusterId& cluster, std::int64_t keep) override;
  Result<std::vector<AccessKey>> access_keys() override;
  Result<void> put_access_key(const AccessKey& key) override;
  Result<void> drop_access_key(const std::string& id) override;

 private:
  [[nodiscard]] bool dead() const;
  // The fault, when it strikes the commit that is counted here.
  std::optional<Fault> count();

  Store& inner_;
  mutable std::mutex mutex_;
  std::int64_t commits_ = 0;
  std::optional<Fault> fault_;
  bool dead_ = false;
};

}  // namespace espalier::store
