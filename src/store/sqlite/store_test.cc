// What only the file can promise: it survives, it is private, it has one owner, and it says what is wrong with it.
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "base/random.h"
#include "base/unique_fd.h"
#include "store/sqlite/sql.h"
#include "store/test_samples.h"

namespace espalier::store {
namespace {

using samples::change;
using samples::create;
using testing::AllOf;
using testing::HasSubstr;

class SqliteStoreTest : public testing::Test {
 protected:
  SqliteStoreTest() { std::filesystem::create_directory(folder_); }
  ~SqliteStoreTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Store> open() {
    auto store = sqlite_store(path_);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  // Runs SQL on the file as another program would.
  void tamper(const std::string& sql) {
    auto db = sql::Database::open(path_);
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->script(sql));
  }
  Error error_at_open() {
    auto store = sqlite_store(path_);
    return store ? Error{ErrorCode::kInternal, "it opened"} : store.error();
  }
  unsigned mode_of(const std::string& suffix) {
    struct stat status{};
    return stat((path_ + suffix).c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("espalier-" + secret_hex(8));
  const std::string path_ = folder_ / "state.db";
};

TEST_F(SqliteStoreTest, AllItsFilesArePrivate) {
  const mode_t before = umask(0);
  const auto store = open();
  ASSERT_TRUE(store->apply(create("c1", "one")));
  umask(before);
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) EXPECT_EQ(mode_of(suffix), 0600u) << suffix;
}

TEST_F(SqliteStoreTest, AFileThatWasReadableBecomesPrivate) {
  open();
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  open();
  EXPECT_EQ(mode_of(""), 0600u);
}

TEST_F(SqliteStoreTest, HasOneOwnerWhoseProcessTheErrorNames) {
  auto store = open();
  const Error error = error_at_open();
  EXPECT_EQ(error.code, ErrorCode::kConflict);
  EXPECT_THAT(error.message, AllOf(HasSubstr(path_), HasSubstr("process " + std::to_string(getpid()))));
  store.reset();
  EXPECT_TRUE(sqlite_store(path_));
}

TEST_F(SqliteStoreTest, RefusesAFileThatIsNoDatabase) {
  const std::string text(5000, 'x');
  ASSERT_TRUE(write_file(path_, text));
  EXPECT_THAT(error_at_open().message, AllOf(HasSubstr(path_), HasSubstr("put back a copy")));
  EXPECT_EQ(read_file(path_).value(), text);
}

TEST_F(SqliteStoreTest, RefusesADamagedFile) {
  open()->apply(create("c1", "one")).value();
  std::string text = read_file(path_).value();
  for (std::size_t page = 4096; page < text.size(); page += 4096) text.replace(page, 64, 64, '\xee');
  ASSERT_TRUE(write_file(path_, text));
  auto store = sqlite_store(path_);
  const auto loaded = store ? (*store)->load() : tl::unexpected(store.error());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, AllOf(HasSubstr(path_), HasSubstr("put back a copy")));
}

TEST_F(SqliteStoreTest, NamesTheRowThatIsDamaged) {
  auto store = open();
  Commit commit = create("c1", "one");
  commit.put_slots = {samples::slot("a", 1)};
  ASSERT_TRUE(store->apply(commit));
  store.reset();
  tamper("UPDATE slots SET body = '{\"number\": \"one\"}'");
  const auto loaded = open()->load();
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, AllOf(HasSubstr("slot c1 a-slot-1"), HasSubstr("number")));
}

TEST_F(SqliteStoreTest, LeavesANewerSchemaAlone) {
  open();
  tamper("PRAGMA user_version = 999");
  const Error error = error_at_open();
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.message, AllOf(HasSubstr(path_), HasSubstr("schema 999"), HasSubstr("newer")));
}

TEST_F(SqliteStoreTest, LeavesTheDatabaseOfAnotherProgramAlone) {
  ASSERT_TRUE(write_file(path_, ""));
  tamper("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  const std::string before = read_file(path_).value();
  const Error error = error_at_open();
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.message, HasSubstr("another program"));
  EXPECT_EQ(read_file(path_).value(), before);
}

TEST_F(SqliteStoreTest, SaysWhenAnotherProgramHoldsTheFile) {
  auto store = open();
  ASSERT_TRUE(store->apply(create("c1", "one")));
  auto other = sql::Database::open(path_);
  ASSERT_TRUE(other->script("BEGIN IMMEDIATE"));
  const auto refused = store->apply(change("c1", 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("another program"));
  EXPECT_TRUE(store->load());  // reading goes on
  ASSERT_TRUE(other->script("ROLLBACK"));
  EXPECT_EQ(store->apply(change("c1", 1)).value(), 2);
}

TEST_F(SqliteStoreTest, SaysWhenTheFolderIsMissing) {
  const auto store = sqlite_store(folder_ / "absent" / "state.db");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(store.error().message, HasSubstr("absent"));
}

// Runs `child` in a process of its own with the write end of a pipe, whose read end it gives.
struct Child {
  pid_t pid = 0;
  UniqueFd output;

  template <typename F>
  explicit Child(F child) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) std::abort();
    output = UniqueFd(ends[0]);
    const UniqueFd input(ends[1]);
    pid = fork();
    if (pid != 0) return;
    child(input.get());
    _exit(0);
  }
  int wait() const {
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  }
  // False at the end.
  bool read_number(std::int64_t& number) const { return read(output.get(), &number, sizeof number) == sizeof number; }
};

void send_number(int fd, std::int64_t number) {
  if (write(fd, &number, sizeof number) != sizeof number) _exit(1);
}

TEST_F(SqliteStoreTest, SaysWhenTheFileIsReadOnly) {
  open();
  std::filesystem::permissions(folder_, std::filesystem::perms(0555));
  const Child child([&](int out) {
    // Root may write what is read-only: be nobody. Nobody does not own the file either.
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(1);
    const Error error = error_at_open();
    send_number(out, error.code == ErrorCode::kPermission && error.message.find(path_) != std::string::npos);
  });
  std::int64_t as_expected = 0;
  EXPECT_TRUE(child.read_number(as_expected));
  EXPECT_EQ(as_expected, 1);
  child.wait();
  std::filesystem::permissions(folder_, std::filesystem::perms(0700));
}

// Commits one cluster after the other until it is killed, and says after each how far it is.
void commit_for_ever(const std::string& path, int out) {
  auto store = sqlite_store(path);
  if (!store) _exit(1);
  auto loaded = (*store)->load();
  std::int64_t revision = loaded && !loaded->empty() ? loaded->at(0).revision : 0;
  for (;; ++revision) {
    Commit commit = revision == 0 ? create("c1", "one") : change("c1", revision);
    commit.put_groups = {samples::group("a", static_cast<int>(revision + 1))};
    commit.events = {samples::event(revision + 1)};
    if (!(*store)->apply(commit)) _exit(1);
    send_number(out, revision + 1);
  }
}

TEST_F(SqliteStoreTest, KeepsEveryAcknowledgedCommitThroughKill) {
  std::int64_t acknowledged = 0;
  for (int round = 0; round < 5; ++round) {
    const Child child([&](int out) { commit_for_ever(path_, out); });
    const std::int64_t enough = acknowledged + 20 + 17 * round;
    while (acknowledged < enough && child.read_number(acknowledged)) continue;
    ASSERT_EQ(kill(child.pid, SIGKILL), 0);
    EXPECT_TRUE(WIFSIGNALED(child.wait()));
    while (child.read_number(acknowledged)) continue;  // what it said before it died
    ASSERT_GE(acknowledged, enough);

    auto store = open();
    const ClusterState state = store->load().value().at(0);
    EXPECT_GE(state.revision, acknowledged);
    EXPECT_LE(state.revision, acknowledged + 1);  // the one under way: whole or not at all
    EXPECT_EQ(state.groups.at("a").target_count, state.revision);
    EXPECT_EQ(state.cluster.last_event, state.revision);
    EXPECT_EQ(store->events({.cluster = ClusterId("c1"), .limit = 1'000'000}).value().size(),
              static_cast<std::size_t>(state.revision));
  }
}

TEST_F(SqliteStoreTest, IsFreeAgainWhenItsOwnerWasKilled) {
  const Child child([&](int out) {
    auto store = sqlite_store(path_);
    send_number(out, store ? 1 : 0);
    pause();
  });
  std::int64_t opened = 0;
  ASSERT_TRUE(child.read_number(opened));
  EXPECT_EQ(opened, 1);
  const Error error = error_at_open();
  EXPECT_EQ(error.code, ErrorCode::kConflict);
  EXPECT_THAT(error.message, HasSubstr("process " + std::to_string(child.pid)));
  kill(child.pid, SIGKILL);
  child.wait();
  EXPECT_TRUE(sqlite_store(path_));
}

}  // namespace
}  // namespace espalier::store
