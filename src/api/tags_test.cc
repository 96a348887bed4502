#include "api/api_fixture_test.h"

namespace espalier::api {
namespace {

using testing::HasSubstr;

class TagApi : public ApiTest {
 protected:
  void SetUp() override {
    good("CreateCluster", demo_with("/Tags", R"([{"Key": "team", "Value": "vision"}])"));
    arn = arn_of(clusters.states.begin()->second.cluster);
  }
  Reply tagged(const std::string& operation, const std::string& members = "") {
    return call(operation, R"({"ResourceArn": ")" + arn + '"' + (members.empty() ? "" : ", " + members) + "}");
  }
  std::string listed() { return json::serialize(tagged("ListTags").body.at("Tags")); }
  static std::string many(int count) {
    json::array tags;
    for (int i = 0; i < count; ++i) tags.push_back({{"Key", fmt::format("key-{}", i)}, {"Value", ""}});
    return R"("Tags": )" + json::serialize(tags);
  }
  std::string arn;
};

TEST_F(TagApi, ThoseOfCreateClusterAreListed) { EXPECT_EQ(listed(), R"([{"Key":"team","Value":"vision"}])"); }

TEST_F(TagApi, AddReplacesAndAnswersAll) {
  const auto reply = tagged("AddTags", R"("Tags": [{"Key": "team", "Value": "speech"}, {"Key": "a b", "Value": ""}])");
  const auto* expected = R"([{"Key":"a b","Value":""},{"Key":"team","Value":"speech"}])";
  EXPECT_EQ(json::serialize(reply.body.at("Tags")), expected);
  EXPECT_EQ(listed(), expected);
}

TEST_F(TagApi, DeleteIgnoresWhatIsNotThere) {
  EXPECT_EQ(json::serialize(tagged("DeleteTags", R"("TagKeys": ["team", "nobody"])").body), "{}");
  EXPECT_EQ(listed(), "[]");
}

TEST_F(TagApi, FiftyAreTheLimit) {
  EXPECT_EQ(tagged("AddTags", many(49)).status, 200);
  const auto reply = tagged("AddTags", R"("Tags": [{"Key": "one more", "Value": ""}])");
  EXPECT_EQ(reply.type(), "ResourceLimitExceeded");
  EXPECT_THAT(reply.message(), HasSubstr("51 tags"));
  EXPECT_EQ(tagged("AddTags", R"("Tags": [{"Key": "team", "Value": "replaced"}])").status, 200);
}

TEST_F(TagApi, TheSameKeyTwiceIsRefused) {
  const char* twice = R"([{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}])";
  EXPECT_THAT(tagged("AddTags", std::string(R"("Tags": )") + twice).message(), HasSubstr("'tags.2.member.key'"));
  EXPECT_THAT(call("CreateCluster", demo_with("/Tags", twice)).message(), HasSubstr("'tags.2.member.key'"));
}

TEST_F(TagApi, OnlyClustersHaveTags) {
  for (const auto* last : {"cluster/zzzzzzzzzzzz", "endpoint/mine"}) {
    arn = std::string("arn:aws:sagemaker:us-west-2:123456789012:") + last;
    for (const auto& [operation, members] : {std::pair("AddTags", R"("Tags": [])"),
                                             {"ListTags", R"("MaxResults": 50)"},
                                             {"DeleteTags", R"("TagKeys": ["a"])"}}) {
      const auto reply = tagged(operation, members);
      EXPECT_EQ(reply.type(), "ResourceNotFound") << operation;
      EXPECT_THAT(reply.message(), HasSubstr(last));
    }
  }
}

TEST_F(TagApi, ANameIsNoArn) {
  arn = "demo";
  EXPECT_THAT(tagged("ListTags").message(), HasSubstr("'resourceArn'"));
}

}  // namespace
}  // namespace espalier::api
