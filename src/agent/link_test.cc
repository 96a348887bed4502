#include "agent/link.h"

#include <gtest/gtest.h>

#include "agent/test_server.h"
#include "base/file.h"

namespace espalier::agent {
namespace {

// A control plane that knows one token and the credentials that it gave out.
class LinkTest : public testing::Test {
 protected:
  std::string answer(const std::string& request) {
    const auto path = request.substr(5, request.find(' ', 5) - 5);
    calls_ += path + " ";
    if (path == "/enrol") {
      if (request.find("\"token\":\"" + token_ + "\"") == std::string::npos) return TestServer::json(403, "");
      return TestServer::json(200, "{\"credential\":\"" + credential_ + "\"}");
    }
    if (request.find("Bearer " + credential_ + "\r\n") == std::string::npos) return TestServer::json(401, "");
    if (path == "/renew") {
      if (renewed_.empty()) return TestServer::json(503, "");
      return TestServer::json(200, "{\"credential\":\"" + (credential_ = renewed_) + "\"}");
    }
    return TestServer::json(
        200, path == "/next" ? R"({"control_plane_boot":"b1","commands":[{"sequence":3,"id":"c"}]})" : "{}",
        "Connection: close\r\n");
  }
  std::unique_ptr<Link> link() { return *Link::make({server_.url(), "i-1", "t1"}, file_); }

  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".credential");
  std::string token_ = "t1";
  std::string credential_ = "c1";
  std::string renewed_;
  std::string calls_;
  TestServer server_{[this](const std::string& request) { return answer(request); }};

  std::string kept() { return from_json<Identity>(parse_json(read_file(file_).value()).value())->credential; }
  void SetUp() override { std::filesystem::remove(file_); }
};

TEST_F(LinkTest, EnrolsOnceAndKeepsTheCredentialPrivate) {
  const auto link = this->link();
  const auto next = link->next({"a", "", 0});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->control_plane_boot, "b1");
  ASSERT_EQ(next->commands.size(), 1U);
  EXPECT_EQ(next->commands[0].sequence, 3);
  EXPECT_TRUE(link->report({}));
  EXPECT_EQ(calls_, "/enrol /next /report ");
  EXPECT_EQ(kept(), "c1");
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(0600));
}

TEST_F(LinkTest, ANewAgentNeedsNoToken) {
  ASSERT_TRUE(link()->next({}));
  token_ = "used up";
  calls_.clear();
  EXPECT_TRUE(link()->next({}));
  EXPECT_EQ(calls_, "/next ");
}

TEST_F(LinkTest, EnrolsAgainWhenRefused) {
  const auto link = this->link();
  ASSERT_TRUE(link->next({}));
  credential_ = "c2";
  EXPECT_EQ(link->next({}).error().code, ErrorCode::kPermission);
  EXPECT_TRUE(link->next({}));
  EXPECT_EQ(kept(), "c2");
}

TEST_F(LinkTest, RenewsItsCredentialAndKeepsTheOldOneUntilThen) {
  const auto link = this->link();
  ASSERT_TRUE(link->next({}));
  EXPECT_FALSE(link->renew());
  EXPECT_EQ(kept(), "c1");
  EXPECT_TRUE(link->next({}));
  renewed_ = "c2";
  ASSERT_TRUE(link->renew());
  EXPECT_EQ(kept(), "c2");
  EXPECT_TRUE(link->next({}));
  EXPECT_TRUE(link->report({}));
  EXPECT_TRUE(this->link()->next({}));  // an agent that starts anew
}

TEST_F(LinkTest, KeepsTryingTheOldCredentialWhenItCannotEnrol) {
  const auto link = this->link();
  ASSERT_TRUE(link->next({}));
  token_ = "used up";
  credential_ = "c2";
  EXPECT_EQ(link->next({}).error().code, ErrorCode::kPermission);  // 401
  EXPECT_EQ(link->next({}).error().code, ErrorCode::kPermission);  // 403: the token is used up
  credential_ = "c1";
  EXPECT_TRUE(link->next({}));
}

TEST_F(LinkTest, RefusesAnUnusableUrl) { EXPECT_FALSE(Link::make({"https://x", "i-1", "t"}, file_)); }

}  // namespace
}  // namespace espalier::agent
