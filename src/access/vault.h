// Keeps secrets closed at rest: AES-256-GCM under a key that lives in a file of its own, outside the database.
//
// What is closed is bound to a text beside it (`about`): put beside another text, it does not open. So a row whose role
// was raised by hand is noticed. Safe from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier::access {

class Vault {
 public:
  // Reads the key file (64 hexadecimal digits), or makes it with mode 0600. kPermission: others may read it.
  static Result<Vault> open(const std::filesystem::path& key_file);
  explicit Vault(std::string key) : key_(std::move(key)) {}  // 32 bytes

  [[nodiscard]] std::string seal(std::string_view secret, std::string_view about) const;  // hexadecimal
  // kPermission: closed by another key, for another text, or altered.
  [[nodiscard]] Result<std::string> unseal(std::string_view sealed, std::string_view about) const;

 private:
  std::string key_;
};

// kPermission when others than its owner may read the file, or it is neither ours nor root's; nothing when it is not
// there.
Result<void> check_private(const std::filesystem::path& file);

}  // namespace espalier::access
