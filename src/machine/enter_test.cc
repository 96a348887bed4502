#include "machine/enter.h"

#include <gtest/gtest.h>

namespace espalier::machine {
namespace {

constexpr const char* kPasswd =
    "root:x:0:0:root:/root:/bin/bash\n"
    "munge:x:100:101::/nonexistent:/usr/sbin/nologin\n"
    "bare:x:7:8::/\n"
    "short:x\n"
    "ubuntu:x:1000:1001:Ordinary, user:/home/ubuntu:/bin/bash\n";

TEST(FindUser, ReadsALine) {
  const auto user = find_user(kPasswd, "ubuntu");
  ASSERT_TRUE(user);
  EXPECT_EQ(user->uid, 1000U);
  EXPECT_EQ(user->gid, 1001U);
  EXPECT_EQ(user->home, "/home/ubuntu");
  EXPECT_EQ(user->shell, "/bin/bash");
  EXPECT_EQ(find_user(kPasswd, "bare")->shell, "/bin/sh");
}

TEST(FindUser, NamesTheUserThatIsNotThere) {
  for (const char* name : {"ubunt", "short", "", "1000"}) {
    const auto user = find_user(kPasswd, name);
    ASSERT_FALSE(user) << name;
    EXPECT_EQ(user.error().code, ErrorCode::kNotFound);
  }
}

TEST(GroupsOf, FindsMembersOnly) {
  const std::string groups = "root:x:0:\nadm:x:4:ubuntu,root\nubuntux:x:9:ubuntux\nvideo:x:44:root,ubuntu\nbroken\n";
  EXPECT_EQ(groups_of(groups, "ubuntu"), (std::vector<unsigned>{4, 44}));
  EXPECT_EQ(groups_of(groups, "nobody"), std::vector<unsigned>{});
}

TEST(Enter, AFolderWithoutMachineIsNotFound) {
  const auto entered = enter(testing::TempDir() + "no-such-machine", {}, "root");
  ASSERT_FALSE(entered);
  EXPECT_EQ(entered.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace espalier::machine
