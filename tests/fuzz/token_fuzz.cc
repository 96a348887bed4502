// rooms: access api
#include <cstdint>
#include <cstdlib>

#include "access/vault.h"
#include "api/pages.h"

// Tokens that come back from clients, and sealed secrets that come back from the database: what we did not make is
// refused, what we made is read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto key = api::read_token("scope", text);
  if (key && api::make_token("scope", *key) != text) std::abort();
  if (!text.empty() && api::read_token("scope", api::make_token("scope", text)).value_or("") != text) std::abort();
  static const access::Vault vault(std::string(32, 'k'));
  if (vault.unseal(text, "")) std::abort();
  return 0;
}
