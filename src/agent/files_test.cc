#include "agent/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace espalier::agent {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "filesXXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  static ino_t inode(const fs::path& path) {
    struct stat now{};
    stat(path.c_str(), &now);
    return now.st_ino;
  }

  fs::path folder_;
  Access mine_{0640, {getuid(), getgid()}};
};

TEST_F(FilesTest, ReplacesWholeWithModeAndLeavesNothingBeside) {
  ASSERT_TRUE(put_file(folder_ / "a", "old", mine_));
  const auto before = inode(folder_ / "a");
  ASSERT_TRUE(put_file(folder_ / "a", "new", mine_));
  EXPECT_EQ(read_file(folder_ / "a").value_or("?"), "new");
  EXPECT_NE(inode(folder_ / "a"), before);
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms(0640));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(FilesTest, LeavesAloneWhatIsSoAlready) {
  ASSERT_TRUE(put_file(folder_ / "a", "same", mine_));
  const auto before = inode(folder_ / "a");
  Access stricter = mine_;
  stricter.mode = 0400;
  ASSERT_TRUE(put_file(folder_ / "a", "same", stricter));
  EXPECT_EQ(inode(folder_ / "a"), before);
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms(0400));
}

TEST_F(FilesTest, MakesFolders) {
  Access access = mine_;
  access.mode = 0700;
  ASSERT_TRUE(put_folder(folder_ / "x" / "y", access));
  EXPECT_EQ(fs::status(folder_ / "x" / "y").permissions(), fs::perms(0700));
  ASSERT_TRUE(put_file(folder_ / "file", "", mine_));
  EXPECT_FALSE(put_folder(folder_ / "file" / "y", access));
}

TEST_F(FilesTest, TailBeginsWithALine) {
  ASSERT_TRUE(write_file(folder_ / "log", "one\ntwo\nthree\n"));
  EXPECT_EQ(tail_of(folder_ / "log", 100), "one\ntwo\nthree");
  EXPECT_EQ(tail_of(folder_ / "log", 10), "two\nthree");
  EXPECT_EQ(tail_of(folder_ / "log", 9), "three");
  EXPECT_EQ(tail_of(folder_ / "log", 6), "three");
  EXPECT_EQ(tail_of(folder_ / "absent", 6), "");
}

}  // namespace
}  // namespace espalier::agent
