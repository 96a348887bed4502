#include "store/sqlite/committer.h"

#include <algorithm>

#include "store/sqlite/rows.h"

namespace espalier::store {

namespace {

// Refused by the rules: the commit's own fault, the file is well.
bool refused(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kExists || error.code == ErrorCode::kInvalid;
}

Result<std::int64_t> write_one(sql::Database& db, const Commit& commit) {
  auto savepoint = sql::Scope::savepoint(db);
  if (!savepoint) return tl::unexpected(savepoint.error());
  auto revision = write_commit(db, commit);
  if (!revision) return revision;
  if (auto ok = savepoint->done(); !ok) return tl::unexpected(ok.error());
  return revision;
}

}  // namespace

Result<std::int64_t> Committer::apply(const Commit& commit) {
  Waiting mine{commit};
  std::unique_lock lock(mutex_);
  queue_.push_back(&mine);
  while (!mine.done) {
    if (busy_) {
      changed_.wait(lock);
      continue;
    }
    busy_ = true;
    const Group group = take_group();
    lock.unlock();
    const auto written = commit_group(group);
    lock.lock();
    busy_ = false;
    ++groups_;
    for (Waiting* one : group) {
      if (!written) one->result = tl::unexpected(written.error());
      one->done = true;
    }
    changed_.notify_all();
  }
  return mine.result;
}

Result<void> Committer::write(const std::function<Result<void>(sql::Database&)>& work) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });
  busy_ = true;
  lock.unlock();
  auto scope = sql::Scope::write(db_);
  auto ok = scope ? work(db_) : Result<void>(tl::unexpected(scope.error()));
  if (ok) ok = scope->done();
  lock.lock();
  busy_ = false;
  changed_.notify_all();
  return ok;
}

std::size_t Committer::waiting() {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

std::int64_t Committer::groups() {
  const std::lock_guard lock(mutex_);
  return groups_;
}

Committer::Group Committer::take_group() {
  const auto end = queue_.begin() + std::min<std::ptrdiff_t>(std::ssize(queue_), kGroupLimit);
  Group group(queue_.begin(), end);
  queue_.erase(queue_.begin(), end);
  return group;
}

Result<void> Committer::commit_group(const Group& group) {
  auto transaction = sql::Scope::write(db_);
  if (!transaction) return tl::unexpected(transaction.error());
  for (Waiting* one : group) {
    one->result = write_one(db_, one->commit);
    // After a full disk or a broken one SQLite may have rolled back everything: none of the group may go on alone.
    if (!one->result && !refused(one->result.error())) return tl::unexpected(one->result.error());
  }
  return transaction->done();
}

}  // namespace espalier::store
