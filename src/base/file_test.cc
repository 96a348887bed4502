#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/random.h"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  FileTest() { std::filesystem::create_directory(folder_); }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  static unsigned mode_of(const std::filesystem::path& path) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("espalier-" + secret_hex(8));
  const std::filesystem::path path_ = folder_ / "file";
};

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  for (const std::string& text :
       {std::string("short\n"), std::string(), std::string(300'000, 'x'), std::string("\0b", 2)}) {
    ASSERT_TRUE(write_file(path_, text));
    EXPECT_EQ(read_file(path_).value(), text);
  }
  EXPECT_EQ(entries(), 1);  // nothing is left beside it
}

TEST_F(FileTest, ModeIsTheOneAskedForWhateverTheUmask) {
  const mode_t before = umask(077);
  ASSERT_TRUE(write_file(path_, "x"));
  EXPECT_EQ(mode_of(path_), 0644u);
  umask(0);
  ASSERT_TRUE(write_file(path_, "x", 0600));
  EXPECT_EQ(mode_of(path_), 0600u);
  umask(before);
}

TEST_F(FileTest, AReaderSeesTheOldTextOrTheNewWhole) {
  const std::string old_text(100'000, 'a'), new_text(100'000, 'b');
  ASSERT_TRUE(write_file(path_, old_text));
  std::jthread writer([&](std::stop_token stop) {
    for (int i = 0; !stop.stop_requested(); ++i) EXPECT_TRUE(write_file(path_, i % 2 == 0 ? new_text : old_text));
  });
  for (int i = 0; i < 50; ++i) {
    const std::string seen = read_file(path_).value();
    ASSERT_TRUE(seen == old_text || seen == new_text);
  }
}

TEST_F(FileTest, ErrorsNameThePathAndTheCause) {
  const auto read = read_file(folder_ / "absent");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(read.error().message, AllOf(HasSubstr("absent"), HasSubstr("No such file")));

  const auto written = write_file(folder_ / "absent" / "file", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(written.error().message, HasSubstr("absent/file"));
}

TEST_F(FileTest, AFolderIsNoFile) {
  EXPECT_FALSE(read_file(folder_));
  EXPECT_FALSE(write_file(folder_, "x"));
  EXPECT_EQ(entries(), 0);
}

TEST_F(FileTest, MakesFoldersWithAllTheirParents) {
  const auto deep = folder_ / "a" / "b" / "c";
  ASSERT_TRUE(make_folder(deep, 0700));
  EXPECT_EQ(mode_of(deep), 0700u);
  EXPECT_TRUE(make_folder(deep, 0755));  // there already
  EXPECT_EQ(mode_of(deep), 0755u);
}

TEST_F(FileTest, NoFolderWhereAFileIs) {
  ASSERT_TRUE(write_file(path_, "x"));
  const auto made = make_folder(path_ / "below");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("file/below"));
}

}  // namespace
}  // namespace espalier
