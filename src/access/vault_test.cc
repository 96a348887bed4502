#include "access/vault.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/random.h"

namespace espalier::access {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Vault, OpensWhatItClosed) {
  const Vault vault(std::string(32, 'k'));
  for (const std::string& secret : {std::string(), std::string("s"), std::string(1000, 'x')}) {
    const auto sealed = vault.seal(secret, "about");
    EXPECT_EQ(vault.unseal(sealed, "about").value(), secret);
    EXPECT_NE(sealed, vault.seal(secret, "about"));  // a nonce of its own
  }
}

TEST(Vault, AStolenRowSaysNothing) {
  EXPECT_THAT(Vault(std::string(32, 'k')).seal("secret", ""), Not(HasSubstr("secret")));
}

TEST(Vault, RefusesAnotherKeyAnotherTextAndAlteredOnes) {
  const Vault vault(std::string(32, 'k'));
  const auto sealed = vault.seal("secret", "role=ReadOnly");
  EXPECT_EQ(vault.unseal(sealed, "role=Admin").error().code, ErrorCode::kPermission);
  EXPECT_FALSE(Vault(std::string(32, 'l')).unseal(sealed, "role=ReadOnly"));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto altered = sealed;
    altered[i] = altered[i] == '0' ? '1' : '0';
    EXPECT_FALSE(vault.unseal(altered, "role=ReadOnly")) << i;
  }
  for (const auto* garbage : {"", "0", "zz", "00ff"}) EXPECT_FALSE(vault.unseal(garbage, ""));
}

class VaultFile : public testing::Test {
 protected:
  std::filesystem::path file_ = std::filesystem::temp_directory_path() / ("espalier-vault-" + secret_hex(8));
  void TearDown() override { std::filesystem::remove(file_); }
};

TEST_F(VaultFile, IsMadeOnceForItsOwnerOnly) {
  const auto sealed = Vault::open(file_).value().seal("secret", "");
  struct stat is{};
  ASSERT_EQ(stat(file_.c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777, 0600u);
  EXPECT_EQ(Vault::open(file_).value().unseal(sealed, "").value(), "secret");
}

TEST_F(VaultFile, IsRefusedWhenOthersMayReadIt) {
  ASSERT_TRUE(Vault::open(file_));
  chmod(file_.c_str(), 0640);
  EXPECT_THAT(Vault::open(file_).error().message, HasSubstr("chmod 600"));
}

TEST_F(VaultFile, IsRefusedWhenItIsNoKey) {
  ASSERT_TRUE(write_file(file_, "short\n", 0600));
  EXPECT_THAT(Vault::open(file_).error().message, HasSubstr("64 hexadecimal digits"));
}

}  // namespace
}  // namespace espalier::access
