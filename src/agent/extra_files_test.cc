#include "agent/extra_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace espalier::agent {
namespace {

namespace fs = std::filesystem;

class ExtraFilesTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root_); }
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_ / "etc");
  }
  std::string put(const std::string& name, bool keep = false) {
    const auto done = put_extra_files({{name, "text of " + name, keep}}, root_);
    return done ? read_file(root_ / name.substr(1)).value_or("unreadable") : "refused";
  }
  const fs::path root_ = fs::path(testing::TempDir()) / fmt::format("extra-{}", getpid());
};

TEST_F(ExtraFilesTest, AreWrittenWhereTheyMayBe) {
  EXPECT_EQ(put("/etc/nvidia-imex/nodes_config.cfg"), "text of /etc/nvidia-imex/nodes_config.cfg");
  EXPECT_EQ(put("/etc/slurm/deep/prolog.sh"), "text of /etc/slurm/deep/prolog.sh");
}

TEST_F(ExtraFilesTest, AreRefusedElsewhere) {
  for (const char* name : {"/etc/passwd", "/etc/slurm", "/etc/slurm/", "/etc/slurm/../passwd", "etc/slurm/a", "",
                           "/etc/slurmd/a", "/etc/slurm/./a"})
    EXPECT_EQ(put(name), "refused") << name;
  fs::create_directories(root_ / "etc/slurm");
  fs::create_directory_symlink(root_ / "etc", root_ / "etc/slurm/out");
  EXPECT_EQ(put("/etc/slurm/out/passwd"), "refused");
  EXPECT_FALSE(fs::exists(root_ / "etc/passwd"));
}

TEST_F(ExtraFilesTest, OneRefusedMeansNoneWritten) {
  EXPECT_FALSE(put_extra_files({{"/etc/slurm/a", "a"}, {"/etc/passwd", "b"}}, root_));
  EXPECT_FALSE(fs::exists(root_ / "etc/slurm/a"));
}

TEST_F(ExtraFilesTest, WhatIsToBeKeptIs) {
  fs::create_directories(root_ / "etc/slurm");
  ASSERT_TRUE(write_file(root_ / "etc/slurm/mine", "mine"));
  EXPECT_EQ(put("/etc/slurm/mine", true), "mine");
  EXPECT_EQ(put("/etc/slurm/new", true), "text of /etc/slurm/new");
}

}  // namespace
}  // namespace espalier::agent
