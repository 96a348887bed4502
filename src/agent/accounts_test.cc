#include "agent/accounts.h"

#include <gtest/gtest.h>

namespace espalier::agent {
namespace {

TEST(Accounts, ReadsPasswd) {
  const auto slurm =
      find_account("root:x:0:0::/:/bin/sh\nbad\nslurmx:x:1:1::\nslurm:x:64030:64031::/:/bin/false", "slurm");
  ASSERT_TRUE(slurm) << slurm.error().message;
  EXPECT_EQ(slurm->uid, 64030U);
  EXPECT_EQ(slurm->gid, 64031U);
  EXPECT_EQ(find_account("slurm:x:a:b::/:\n", "slurm").error().code, ErrorCode::kNotFound);
  EXPECT_NE(find_account("", "munge").error().message.find("'munge'"), std::string::npos);
}

}  // namespace
}  // namespace espalier::agent
