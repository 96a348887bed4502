#include "cli/credentials.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "base/random.h"

namespace espalier::cli {
namespace {

constexpr const char* kProfiles =
    "# comment\n[default]\naws_access_key_id = ESPKDEFAULT\naws_secret_access_key=one\n"
    "\n[ ci ]\naws_access_key_id=ESPTCI\r\naws_secret_access_key = t=wo\naws_session_token=token\n[empty]\n";

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    std::filesystem::create_directory(folder_);
    variables_["AWS_SHARED_CREDENTIALS_FILE"] = (folder_ / "credentials").string();
  }
  ~CredentialsTest() override { std::filesystem::remove_all(folder_); }
  std::string found(const std::string& endpoint = "http://127.0.0.1:8650") {
    const auto got =
        find_credentials([this](const char* name) { return variables_[name]; }, endpoint, folder_.string());
    return got ? got->key_id + " " + got->secret + " " + got->session_token : "";
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("espalier-keys-" + secret_hex(8));
  std::map<std::string, std::string> variables_;
};

TEST_F(CredentialsTest, TheNearestSourceWins) {
  EXPECT_EQ(found(), "");
  ASSERT_TRUE(write_file(local_credential_file(folder_.string()),
                         R"({"AccessKeyId": "ESPLHOST", "SecretAccessKey": "own"})", 0600));
  EXPECT_EQ(found(), "ESPLHOST own ");
  EXPECT_EQ(found("https://control.example"), "");  // another host's
  ASSERT_TRUE(write_file(folder_ / "credentials", kProfiles));
  EXPECT_EQ(found(), "ESPKDEFAULT one ");
  EXPECT_EQ(found("https://control.example"), "ESPKDEFAULT one ");
  variables_["AWS_PROFILE"] = "ci";
  EXPECT_EQ(found(), "ESPTCI t=wo token");
  variables_["AWS_ACCESS_KEY_ID"] = "ESPKENV";
  variables_["AWS_SECRET_ACCESS_KEY"] = "env";
  EXPECT_EQ(found(), "ESPKENV env ");
}

TEST_F(CredentialsTest, KeysOfOthersArePassedOver) {
  variables_["AWS_ACCESS_KEY_ID"] = "AKIAOTHER";
  variables_["AWS_SECRET_ACCESS_KEY"] = "of another service";
  EXPECT_EQ(found(), "");
}

TEST_F(CredentialsTest, AFileThatOthersMayReadIsNotUsed) {
  ASSERT_TRUE(write_file(local_credential_file(folder_.string()),
                         R"({"AccessKeyId": "ESPLHOST", "SecretAccessKey": "own"})", 0644));
  EXPECT_EQ(found(), "");
}

TEST(Profile, ReadsTheOneThatIsAskedFor) {
  EXPECT_EQ(read_profile(kProfiles, "ci")->secret, "t=wo");
  EXPECT_FALSE(read_profile(kProfiles, "empty"));
  EXPECT_FALSE(read_profile(kProfiles, "other"));
  EXPECT_FALSE(read_profile("[", "x"));
}

TEST(Authority, IsCutFromUrls) {
  EXPECT_EQ(authority_of("http://127.0.0.1:8650"), "127.0.0.1:8650");
  EXPECT_EQ(authority_of("https://a.example/prefix"), "a.example");
  EXPECT_TRUE(is_local("https://localhost:1"));
  EXPECT_FALSE(is_local("https://10.0.0.1"));
}

}  // namespace
}  // namespace espalier::cli
