#include "base/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/random.h"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FileLockTest : public testing::Test {
 protected:
  ~FileLockTest() override { std::filesystem::remove(path_); }
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("espalier-" + secret_hex(8) + ".lock");
};

TEST_F(FileLockTest, ExcludesAllOthersWhileItLives) {
  {
    const auto lock = FileLock::take(path_);
    ASSERT_TRUE(lock);
    const auto second = FileLock::take(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kConflict);
    EXPECT_THAT(second.error().message, AllOf(HasSubstr(path_), HasSubstr(std::to_string(getpid()))));
  }
  EXPECT_TRUE(FileLock::take(path_));
}

TEST_F(FileLockTest, OutlivesOtherUsesOfTheSameFile) {
  const auto lock = FileLock::take(path_);
  std::ifstream(path_).get();  // a POSIX lock would end with this close
  EXPECT_FALSE(FileLock::take(path_));
}

TEST_F(FileLockTest, MovesWithItsOwner) {
  auto lock = FileLock::take(path_);
  {
    const FileLock moved = std::move(*lock);
    EXPECT_FALSE(FileLock::take(path_));
  }
  EXPECT_TRUE(FileLock::take(path_));
}

TEST_F(FileLockTest, TakesOverTheFileOfADeadOwner) {
  std::ofstream(path_) << "1234567 and more\n";
  ASSERT_TRUE(FileLock::take(path_));
  std::string line;
  std::getline(std::ifstream(path_), line);
  EXPECT_EQ(line, std::to_string(getpid()));
}

TEST_F(FileLockTest, SaysWhenItCannotBeMade) {
  const auto lock = FileLock::take(path_ / "below");
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message, HasSubstr(path_ / "below"));
}

}  // namespace
}  // namespace espalier
