#include "agent/config_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace espalier::agent {
namespace {

namespace fs = std::filesystem;

class ConfigFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (getuid() != 0) GTEST_SKIP() << "the files belong to root";
    std::string name = testing::TempDir() + "configXXXXXX";
    path_ = mkdtemp(name.data());
    ASSERT_TRUE(write_file(path_ / "slurm.conf", "user's"));
    ASSERT_TRUE(write_file(path_ / "topology.conf", "old"));
    folder_ = ConfigFolder(path_);
  }
  void TearDown() override { fs::remove_all(path_); }

  std::string text(const char* name) { return read_file(path_ / name).value_or("(none)"); }
  std::ptrdiff_t count() { return std::distance(fs::directory_iterator(path_), fs::directory_iterator()); }

  fs::path path_;
  ConfigFolder folder_{""};
};

TEST_F(ConfigFolderTest, WritesDeletesAndKeeps) {
  ASSERT_TRUE(folder_.change({{"slurm.conf", "ours", true}, {"nodes.conf", "n", false}}, {"topology.conf", "absent"}));
  EXPECT_EQ(text("slurm.conf"), "user's");
  EXPECT_EQ(text("nodes.conf"), "n");
  EXPECT_EQ(text("topology.conf"), "(none)");
  EXPECT_EQ(count(), 2);
}

TEST_F(ConfigFolderTest, PutsBackWhatWasThereAtTheLastAccept) {
  ASSERT_TRUE(folder_.change({{"topology.conf", "1", false}, {"new.conf", "1", false}}, {}));
  ASSERT_TRUE(folder_.change({{"topology.conf", "2", false}}, {"slurm.conf"}));
  ASSERT_TRUE(folder_.put_back());
  EXPECT_EQ(text("topology.conf"), "old");
  EXPECT_EQ(text("new.conf"), "(none)");
  EXPECT_EQ(text("slurm.conf"), "user's");
  EXPECT_FALSE(folder_.has_changed());

  ASSERT_TRUE(folder_.change({{"topology.conf", "3", false}}, {}));
  folder_.accept();
  ASSERT_TRUE(folder_.put_back());
  EXPECT_EQ(text("topology.conf"), "3");
}

TEST_F(ConfigFolderTest, WritesNothingWhenNothingDiffers) {
  const auto before = fs::last_write_time(path_ / "topology.conf");
  ASSERT_TRUE(folder_.change({{"topology.conf", "old", false}}, {}));
  EXPECT_FALSE(folder_.has_changed());
  EXPECT_EQ(fs::last_write_time(path_ / "topology.conf"), before);
}

TEST_F(ConfigFolderTest, LeavesAllAsItWasWhenOneFails) {
  fs::create_directory(path_ / "folder");
  EXPECT_FALSE(folder_.change({{"topology.conf", "new", false}, {"folder", "x", false}}, {}));
  EXPECT_EQ(text("topology.conf"), "old");
  EXPECT_EQ(count(), 3);
}

TEST_F(ConfigFolderTest, StaysInItsFolder) {
  for (const char* name : {"", "../passwd", "/etc/passwd", ".", ".."}) {
    EXPECT_FALSE(folder_.change({{name, "x", false}}, {})) << name;
    EXPECT_FALSE(folder_.change({}, {name})) << name;
  }
}

}  // namespace
}  // namespace espalier::agent
