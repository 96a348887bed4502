#include "access/vault.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "access/digest.h"
#include "base/file.h"
#include "base/random.h"

namespace espalier::access {

namespace {

constexpr int kKeyBytes = 32;
constexpr int kNonceBytes = 12;
constexpr int kTagBytes = 16;

struct Free {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Free>;

const unsigned char* in(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* out(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
int size(std::string_view text) { return static_cast<int>(text.size()); }

tl::unexpected<Error> wrong() {
  return fail(ErrorCode::kPermission, "a sealed secret does not open: the key file is another, or the row was altered");
}

}  // namespace

Result<void> check_private(const std::filesystem::path& file) {
  struct stat is{};
  if (stat(file.c_str(), &is) != 0) return {};
  if ((is.st_mode & 077) != 0)
    return fail(ErrorCode::kPermission, "others may read {}: chmod 600 it, and replace the keys that it protects",
                file.string());
  if (is.st_uid != 0 && is.st_uid != geteuid())
    return fail(ErrorCode::kPermission, "{} belongs to another user", file.string());
  return {};
}

Result<Vault> Vault::open(const std::filesystem::path& key_file) {
  if (auto ok = check_private(key_file); !ok) return tl::unexpected(ok.error());
  auto text = read_file(key_file);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    text = secret_hex(kKeyBytes) + "\n";
    if (auto made = write_file(key_file, *text, 0600); !made) return tl::unexpected(made.error());
  }
  if (!text) return tl::unexpected(text.error());
  while (text->ends_with('\n')) text->pop_back();
  auto key = from_hex(*text);
  if (!key || key->size() != kKeyBytes)
    return fail(ErrorCode::kInvalid, "{} is no key file: it must hold {} hexadecimal digits", key_file.string(),
                2 * kKeyBytes);
  return Vault(std::move(*key));
}

std::string Vault::seal(std::string_view secret, std::string_view about) const {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  const std::string nonce = secret_bytes(kNonceBytes);
  std::string closed(secret.size(), '\0'), tag(kTagBytes, '\0');
  int n = 0;
  EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, in(key_), in(nonce));
  EVP_EncryptUpdate(cipher.get(), nullptr, &n, in(about), size(about));
  EVP_EncryptUpdate(cipher.get(), out(closed), &n, in(secret), size(secret));
  EVP_EncryptFinal_ex(cipher.get(), nullptr, &n);
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, out(tag));
  return to_hex(nonce + closed + tag);
}

Result<std::string> Vault::unseal(std::string_view sealed, std::string_view about) const {
  auto raw = from_hex(sealed);
  if (!raw || raw->size() < kNonceBytes + kTagBytes) return wrong();
  std::string tag = raw->substr(raw->size() - kTagBytes);
  const auto closed = std::string_view(*raw).substr(kNonceBytes, raw->size() - kNonceBytes - kTagBytes);
  const Cipher cipher(EVP_CIPHER_CTX_new());
  std::string secret(closed.size(), '\0');
  int n = 0;
  EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, in(key_), in(*raw));
  EVP_DecryptUpdate(cipher.get(), nullptr, &n, in(about), size(about));
  EVP_DecryptUpdate(cipher.get(), out(secret), &n, in(closed), size(closed));
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, out(tag));
  if (EVP_DecryptFinal_ex(cipher.get(), nullptr, &n) != 1) return wrong();
  return secret;
}

}  // namespace espalier::access
