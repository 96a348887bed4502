#include "cli/group_option.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace espalier::cli {
namespace {

TEST(GroupOption, ReadsEveryKey) {
  const auto group = parse_group("name=w,type=ml.p5.48xlarge,count=8,partition=gpu,min=2,threads=1,role=arn:x");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->name, "w");
  EXPECT_EQ(group->type, "ml.p5.48xlarge");
  EXPECT_EQ(group->kind, NodeType::Compute);
  EXPECT_EQ(group->count, 8);
  EXPECT_EQ(group->partition, "gpu");
  EXPECT_EQ(group->min, 2);
  EXPECT_EQ(group->threads, 1);
  EXPECT_EQ(group->role, "arn:x");
}

TEST(GroupOption, FillsInWhatIsUsual) {
  const auto worker = parse_group("name=w,type=ml.c5.large");
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->count, 1);
  EXPECT_EQ(worker->partition, "w") << "a compute group is its own partition";
  EXPECT_EQ(worker->role, kDefaultRole);
  const auto login = parse_group("kind=login,name=l,type=ml.c5.large");
  ASSERT_TRUE(login);
  EXPECT_EQ(login->kind, NodeType::Login);
  EXPECT_EQ(login->partition, "") << "only compute groups have one";
}

TEST(GroupOption, SaysWhichPartIsWrong) {
  const std::map<std::string, std::string> wrong{
      {"name=w", "needs a name and a type"},  {"", "needs a name and a type"},
      {"name=w,type=t,size=3", "'size=3'"},   {"name=w,type=t,8", "'8'"},
      {"name=w,type=t,count=-1", "count=-1"}, {"name=w,type=t,count=6759", "from 0 to 6758"},
      {"name=w,type=t,count=8x", "count=8x"}, {"name=w,type=t,kind=head", "compute, controller or login"},
  };
  for (const auto& [text, message] : wrong) {
    const auto group = parse_group(text);
    ASSERT_FALSE(group) << text;
    EXPECT_EQ(group.error().code, ErrorCode::kInvalid);
    EXPECT_NE(group.error().message.find(message), std::string::npos) << group.error().message;
  }
}

TEST(Resize, ReadsGroupAndCount) {
  const auto resize = parse_resize("worker=16");
  ASSERT_TRUE(resize);
  EXPECT_EQ(resize->group, "worker");
  EXPECT_EQ(resize->count, 16);
  for (const char* text : {"worker", "=3", "worker=", "worker=x"}) EXPECT_FALSE(parse_resize(text)) << text;
}

}  // namespace
}  // namespace espalier::cli
