#include "provider/scripts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/file.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

class ScriptFolderTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(base_); }
  void SetUp() override {
    fs::remove_all(base_);
    fs::create_directories(root_ / "bucket/life/lib");
    write(root_ / "bucket/life/on_create.sh", "#!/bin/sh\n");
    fs::permissions(root_ / "bucket/life/on_create.sh", fs::perms::owner_all);
    write(root_ / "bucket/life/lib/a.txt", std::string("\0\xff", 2));
    write(base_ / "secret", "secret");
  }
  static void write(const fs::path& path, const std::string& text) { ASSERT_TRUE(write_file(path, text)); }
  // How a fetch ends: "ok" or the code's number.
  std::string outcome(const std::string& uri) {
    const auto fetched = ScriptFolder(root_).fetch(uri);
    return fetched ? "ok" : fmt::format("{}", static_cast<int>(fetched.error().code));
  }
  static std::string name(ErrorCode code) { return fmt::format("{}", static_cast<int>(code)); }

  const fs::path base_ = fs::path(testing::TempDir()) / fmt::format("scripts-{}", getpid());
  const fs::path root_ = base_ / "root";
};

TEST_F(ScriptFolderTest, ReadsAllBelowThePrefix) {
  const auto bundle = ScriptFolder(root_).fetch("s3://bucket/life/");
  ASSERT_TRUE(bundle) << bundle.error().message;
  ASSERT_EQ(bundle->files.size(), 2U);
  EXPECT_EQ(bundle->files[0], (ScriptFile{"lib/a.txt", "AP8=", false}));
  EXPECT_EQ(bundle->files[1], (ScriptFile{"on_create.sh", to_base64("#!/bin/sh\n"), true}));
  EXPECT_EQ(outcome("s3://bucket/life"), "ok");
  EXPECT_EQ(outcome("s3://bucket"), "ok");
}

TEST_F(ScriptFolderTest, ItsDigestTellsChanges) {
  const auto digest = [&] { return ScriptFolder(root_).fetch("s3://bucket/life")->digest; };
  const auto before = digest();
  EXPECT_EQ(digest(), before);
  write(root_ / "bucket/life/lib/a.txt", "b");
  const auto changed = digest();
  EXPECT_NE(changed, before);
  fs::rename(root_ / "bucket/life/lib/a.txt", root_ / "bucket/life/lib/b.txt");
  EXPECT_NE(digest(), changed);
}

TEST_F(ScriptFolderTest, WhatIsNoAddressIsRefused) {
  for (const char* uri :
       {"", "bucket/life", "http://bucket/life", "s3://", "s3:///etc", "s3://../root", "s3://bucket/..",
        "s3://bucket/life/../../..", "s3://Bucket/life", "s3://bucket/./life", "s3://.ssh/x"})
    EXPECT_EQ(outcome(uri), name(ErrorCode::kInvalid)) << uri;
  EXPECT_EQ(outcome("s3://bucket/none"), name(ErrorCode::kNotFound));
  EXPECT_EQ(outcome("s3://other/life"), name(ErrorCode::kNotFound));
  EXPECT_EQ(outcome("s3://bucket/life/on_create.sh"), name(ErrorCode::kNotFound)) << "a file is no prefix";
  fs::create_directories(root_ / "bucket/empty");
  EXPECT_EQ(outcome("s3://bucket/empty"), name(ErrorCode::kNotFound));
}

TEST_F(ScriptFolderTest, LinksDoNotLeadOut) {
  fs::create_symlink(base_ / "secret", root_ / "bucket/life/link");
  EXPECT_EQ(outcome("s3://bucket/life"), name(ErrorCode::kPermission));
  fs::remove(root_ / "bucket/life/link");
  fs::create_symlink("../../../secret", root_ / "bucket/life/link");
  EXPECT_EQ(outcome("s3://bucket/life"), name(ErrorCode::kPermission));
  fs::remove(root_ / "bucket/life/link");
  fs::create_directory_symlink(base_, root_ / "bucket/out");
  EXPECT_EQ(outcome("s3://bucket/out/root/bucket/life"), name(ErrorCode::kPermission));
  fs::remove(root_ / "bucket/out");
  fs::create_symlink("lib/a.txt", root_ / "bucket/life/link");
  EXPECT_EQ(outcome("s3://bucket/life"), "ok") << "a link within is what it points to";
}

TEST_F(ScriptFolderTest, IsBounded) {
  write(root_ / "bucket/life/big", std::string(kMaxScriptBytes, 'x'));
  EXPECT_EQ(outcome("s3://bucket/life"), name(ErrorCode::kLimit));
  fs::remove(root_ / "bucket/life/big");
  fs::create_directories(root_ / "bucket/many");
  for (std::size_t i = 0; i < kMaxScriptFiles; ++i)
    fs::copy_file(root_ / "bucket/life/on_create.sh", root_ / "bucket/many" / std::to_string(i));
  EXPECT_EQ(outcome("s3://bucket/many"), "ok");
  write(root_ / "bucket/many/more", "");
  EXPECT_EQ(outcome("s3://bucket/many"), name(ErrorCode::kLimit));
}

TEST_F(ScriptFolderTest, WhatIsNoFileIsRefusedAndDoesNotHang) {
  ASSERT_EQ(mkfifo((root_ / "bucket/life/pipe").c_str(), 0600), 0);
  EXPECT_EQ(outcome("s3://bucket/life"), name(ErrorCode::kInvalid));
}

}  // namespace
}  // namespace espalier
