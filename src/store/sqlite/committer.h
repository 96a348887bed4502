// Group commit: callers that wait at the same time share one transaction, and so one flush of the disk.
//
// There is no thread of its own. Of the callers that wait, one leads: it takes all commits that have gathered, writes
// each in a savepoint, so that the refusal of one leaves the others alone, commits once, and wakes their callers.
// While it does, the next commits gather. A lone caller pays nothing for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "store/sqlite/sql.h"
#include "store/store.h"

namespace espalier::store {

class Committer {
 public:
  explicit Committer(sql::Database db) : db_(std::move(db)) {}

  // Returns when it is on disk, or is refused, or could not be written. Commits keep the order of their calls.
  Result<std::int64_t> apply(const Commit& commit);
  // Runs `work` in a transaction of its own, between two groups.
  Result<void> write(const std::function<Result<void>(sql::Database&)>& work);
  // Commits that wait for their group, and groups that were written.
  [[nodiscard]] std::size_t waiting();
  [[nodiscard]] std::int64_t groups();

 private:
  struct Waiting {
    const Commit& commit;
    Result<std::int64_t> result = 0;
    bool done = false;
  };
  using Group = std::vector<Waiting*>;

  Group take_group();
  // Fills in the results. An error: the file failed, and with it the whole group.
  Result<void> commit_group(const Group& group);

  static constexpr std::size_t kGroupLimit = 256;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;  // someone writes: only then db_ is touched, without the mutex
  std::deque<Waiting*> queue_;
  std::int64_t groups_ = 0;
  sql::Database db_;
};

}  // namespace espalier::store
