#include "api/pages.h"

#include <openssl/sha.h>

#include <map>

namespace espalier::api {
namespace {

constexpr std::size_t kDigestDigits = 16;

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string digest(const std::string& scope, const std::string& key) {
  const std::string text = scope + '\0' + key;
  unsigned char sum[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum);
  return hex({reinterpret_cast<const char*>(sum), sizeof sum}).substr(0, kDigestDigits);
}

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string unhex(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = nibble(digits[i]);
    const int low = nibble(digits[i + 1]);
    if (high < 0 || low < 0) return "";
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

}  // namespace

std::string page_scope(std::string_view operation, const std::string& region, const json::object& input) {
  std::map<std::string, std::string> members;
  for (const auto& [name, value] : input)
    if (name != "NextToken" && name != "MaxResults" && !value.is_null()) members[name] = json::serialize(value);
  std::string scope = fmt::format("{} {}", operation, region);
  for (const auto& [name, value] : members) scope += fmt::format(" {}={}", name, value);
  return scope;
}

std::string make_token(const std::string& scope, const std::string& key) { return digest(scope, key) + hex(key); }

Result<std::string> read_token(const std::string& scope, const std::string& token) {
  std::string key = token.size() > kDigestDigits ? unhex(std::string_view(token).substr(kDigestDigits)) : "";
  if (key.empty() || make_token(scope, key) != token)
    return fail(ErrorCode::kInvalid,
                "NextToken is not one that this list gave for these parameters: pass it unchanged, with the same "
                "parameters, or leave it out to begin again");
  return key;
}

std::string sortable(Time time) { return sortable(static_cast<std::int64_t>(time.time_since_epoch().count())); }
std::string sortable(std::int64_t number) { return fmt::format("{:020}", number); }

}  // namespace espalier::api
