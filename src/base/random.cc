#include "base/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace espalier {

Random Random::from_system() {
  std::random_device device;
  return Random((std::uint64_t{device()} << 32) | device());
}

std::string Random::hex(int digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (int i = 0; i < digits; ++i) out += kDigits[next() & 15];
  return out;
}

std::string Random::letters_and_digits(int n) {
  static constexpr char kLetters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string out;
  for (int i = 0; i < n; ++i) out += kLetters[below(36)];
  return out;
}

std::string Random::uuid() {
  std::string d = hex(32);
  d[12] = '4';
  d[16] = "89ab"[next() & 3];
  return d.substr(0, 8) + "-" + d.substr(8, 4) + "-" + d.substr(12, 4) + "-" + d.substr(16, 4) + "-" + d.substr(20);
}

std::string secret_bytes(int n) {
  std::string out(static_cast<std::size_t>(n), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t got = getrandom(out.data() + have, out.size() - have, 0);
    if (got < 0 && errno != EINTR) std::abort();  // a kernel without randomness: nothing can be trusted
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return out;
}

std::string secret_hex(int n) {
  std::string out;
  for (const char c : secret_bytes(n)) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace espalier
